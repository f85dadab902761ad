//! The person's default agent in drafts: it gets the tasks that change code as they are drafted. What the person says
//! about a task later, the built-in agent included, stays.

use std::sync::Arc;

use super::Driver;
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{AgentRun, PlanNode, RunKind, TaskId};
use planwright_plan::roadmap_to_plan::task_type_of;

/// Task types whose tasks go to the default agent.
pub const CODING_TYPES: [&str; 2] = ["code_modify", "code_create"];

impl Driver {
    /// Gives the tasks of a draft that change code to the default agent, if there is one.
    pub(super) fn assign_agents(&self, event: &mut Event) {
        let talk = &self.state.planning;
        let outline = talk.outline.as_ref().map(|outline| outline.nodes.as_slice());
        let roadmap = talk.roadmap.as_ref().map(|roadmap| roadmap.nodes.as_slice());
        let default = self.options.default_agent.as_deref();
        match event {
            Event::Planning(PlanningEvent::OutlineDrafted { outline: drafted, .. }) => {
                let assigned = assigned_agents(&drafted.nodes, outline, default);
                if !assigned.is_empty() {
                    assign_nodes(&mut Arc::make_mut(drafted).nodes, &assigned);
                }
            }
            Event::Planning(PlanningEvent::RoadmapDrafted { roadmap: drafted, .. }) => {
                // A roadmap begins with the tasks of the outline.
                let assigned = assigned_agents(&drafted.nodes, roadmap.or(outline), default);
                if !assigned.is_empty() {
                    assign_nodes(&mut Arc::make_mut(drafted).nodes, &assigned);
                }
            }
            _ => {}
        }
    }
}

/// Which of the tasks that were drafted for "the agent" are done by which of the person's own agents.
fn assigned_agents(
    drafted: &[PlanNode],
    before: Option<&[PlanNode]>,
    default: Option<&str>,
) -> Vec<(TaskId, String)> {
    let known = |node: &PlanNode| before?.iter().find(|other| other.id == node.id)?.run.as_ref();
    let assigned = |node: &PlanNode| {
        let Some(RunKind::Agent(own)) = &node.run else { return None };
        let name = match known(node) {
            // Who drafts does not know the names; a task keeps whom it had.
            Some(RunKind::Agent(before)) => before.own_agent(),
            _ => default.filter(|_| CODING_TYPES.contains(&task_type_of(node))),
        };
        let name = name.filter(|_| own.is_built_in())?;
        Some((node.id.clone(), name.to_owned()))
    };
    drafted.iter().filter_map(assigned).collect()
}

fn assign_nodes(nodes: &mut [PlanNode], assigned: &[(TaskId, String)]) {
    for node in nodes {
        if let Some((_, name)) = assigned.iter().find(|(id, _)| *id == node.id) {
            node.run = Some(RunKind::Agent(AgentRun::with_agent(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::NodeType;

    fn nodes(tasks: &[(&str, Option<RunKind>)]) -> Vec<PlanNode> {
        let root = PlanNode::new_goal("root", "Release");
        let node = |(at, (title, run)): (usize, &(&str, Option<RunKind>))| {
            let child = PlanNode::new_child(&root, format!("t{at}"), NodeType::Task, *title);
            PlanNode { run: run.clone(), ..child }
        };
        tasks.iter().enumerate().map(node).collect()
    }

    fn drafted(
        tasks: &[(&str, Option<RunKind>)],
        before: Option<&[PlanNode]>,
        default: Option<&str>,
    ) -> (Vec<PlanNode>, Vec<Option<String>>) {
        let mut nodes = nodes(tasks);
        let assigned = assigned_agents(&nodes, before, default);
        assign_nodes(&mut nodes, &assigned);
        let own = |node: &PlanNode| Some(node.run.as_ref()?.own_agent()?.to_owned());
        let who = nodes.iter().map(own).collect();
        (nodes, who)
    }

    #[test]
    fn tasks_that_change_code_go_to_the_default_agent_once() {
        let agent = Some(RunKind::agent());
        let tasks = [
            ("Fix the bug in the parser", agent.clone()),
            ("Write the announcement", agent.clone()),
            ("Fix the bug in the lexer", None),
        ];
        let claude = || Some("claude".to_owned());
        assert_eq!(drafted(&tasks, None, None).1, [None, None, None]);
        let (first, who) = drafted(&tasks, None, Some("claude"));
        assert_eq!(who, [claude(), None, None]);
        // A redraft that only says "agent" keeps whom the task had, and another default changes nothing.
        assert_eq!(drafted(&tasks, Some(&first), Some("codex")).1, [claude(), None, None]);
        // What the person gave to the built-in agent stays with it.
        assert_eq!(drafted(&tasks, Some(&nodes(&tasks)), Some("claude")).1, [None, None, None]);
        // A task that becomes one of agents is new to them.
        let later = [tasks[0].clone(), tasks[1].clone(), (tasks[2].0, agent)];
        assert_eq!(drafted(&later, Some(&first), Some("claude")).1, [claude(), None, claude()]);
    }
}
