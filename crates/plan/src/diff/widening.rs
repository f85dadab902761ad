//! Whether a changed plan may do more than the approved one.
//!
//! An approval carries over only if everything in the new plan was already in the old one: the same goal, no new task,
//! identical commands, no additional tool or host, no higher cost, and nothing that runs before a person's task that
//! used to precede it. In doubt a change is treated as wider, since asking once more is cheaper than acting without
//! approval.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use planwright_model::task::DEFAULT_TOKENS;
use planwright_model::{ExitCriterion, Plan, RunKind, SandboxChoice, TaskId, TaskNode};
use planwright_text::units;

/// The effect of a change on an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "widening", rename_all = "snake_case")]
pub enum ApprovalWidening {
    /// The approval carries over.
    Narrower { why: String },
    /// The person is asked again, for these reasons.
    Wider { why: Vec<String> },
}

/// Compares a plan with the approved one.
pub fn assess_widening(before: &Plan, after: &Plan) -> ApprovalWidening {
    let mut why = Vec::new();
    if before.goal != after.goal || (after.goal.is_none() && before.title != after.title) {
        why.push("the goal changed".to_owned());
    }
    let old: BTreeMap<&TaskId, &TaskNode> =
        before.tasks.iter().map(|task| (&task.id, task)).collect();
    let waits = [human_predecessors(before), human_predecessors(after)];
    for task in &after.tasks {
        match old.get(&task.id) {
            None => why.push(format!("\"{}\" is new", task.description)),
            Some(old) => collect_task_widening(old, task, &mut why),
        }
        let missing = |id: &&TaskId| !waits[1].get(&task.id).is_some_and(|now| now.contains(*id));
        let before = waits[0].get(&task.id).into_iter().flatten().copied();
        for person in before.filter(|id| is_automated(task) && missing(id)) {
            let title = old.get(person).map_or(person.as_str(), |task| &task.description);
            why.push(format!("\"{}\" no longer waits for \"{title}\"", task.description));
        }
    }
    let (cost, allowed) = (agent_tokens(after), agent_tokens(before));
    if cost > allowed {
        let (cost, allowed) = (units::format_count(cost), units::format_count(allowed));
        why.push(format!("it may use {cost} tokens instead of {allowed}"));
    }
    if why.is_empty() {
        ApprovalWidening::Narrower { why: describe_narrowing(before, after) }
    } else {
        ApprovalWidening::Wider { why }
    }
}

fn describe_narrowing(before: &Plan, after: &Plan) -> String {
    let tasks = match before.tasks.len().saturating_sub(after.tasks.len()) {
        0 => "the same tasks".to_owned(),
        1 => "1 task fewer".to_owned(),
        fewer => format!("{fewer} tasks fewer"),
    };
    format!("{tasks}, no new command, tool or host, no higher cost")
}

/// Returns whether the task runs without the person.
fn is_automated(task: &TaskNode) -> bool {
    !matches!(task.run, RunKind::Human {})
}

fn agent_tokens(plan: &Plan) -> u64 {
    let agents = plan.tasks.iter().filter(|task| matches!(task.run, RunKind::Agent(_)));
    agents.fold(0, |sum, task| sum.saturating_add(task.estimated_tokens.max(DEFAULT_TOKENS)))
}

fn collect_task_widening(old: &TaskNode, new: &TaskNode, why: &mut Vec<String>) {
    let name = &new.description;
    let mut tell = |wider: bool, words: &str| {
        if wider {
            why.push(format!("\"{name}\" {words}"));
        }
    };
    tell(!task_commands(old).is_superset(&task_commands(new)), "runs another command");
    tell(!named_hosts(old).is_superset(&named_hosts(new)), "names another host");
    if !is_automated(new) {
        return;
    }
    tell(!is_automated(old), "is no longer done by you");
    let agent = matches!(new.run, RunKind::Agent(_));
    tell(
        agent && is_automated(old) && !matches!(old.run, RunKind::Agent(_)),
        "is now done by the agent",
    );
    let other = agent && is_automated(old) && old.run.own_agent() != new.run.own_agent();
    tell(other && new.run.own_agent().is_some(), "is now done by another agent");
    tell(agent && old.description != new.description, "says something else to the agent");
    tell(agent && (&old.agent_role, &old.task_type) != (&new.agent_role, &new.task_type), {
        "has another role or type"
    });
    tell(agent && admits_more(&old.tools, &new.tools), "may use further tools");
    tell(agent && admits_more(&usable_tools(old), &usable_tools(new)), "prefers further tools");
    let confined = |task: &TaskNode| task.sandbox == SandboxChoice::Workspace;
    tell(confined(old) && !confined(new), "leaves its sandbox");
    let longer = match (old.timeout_seconds, new.timeout_seconds) {
        (Some(old), Some(new)) => new > old,
        (Some(_), None) => true,
        (None, _) => false,
    };
    tell(longer, "may run longer");
    let settings = |task: &TaskNode| task.command_settings();
    tell(settings(old) != settings(new), "runs its command with other settings");
    let attempts = |task: &TaskNode| task.retries.as_ref().map_or(0, |policy| policy.max);
    tell(attempts(new) > attempts(old), "may be tried more often");
    tell(old.when != new.when, "runs on another condition");
    tell(old.repeat != new.repeat, "is repeated under another rule");
    let often = |task: &TaskNode| task.metadata.get("recurrence").cloned();
    tell(often(old) != often(new), "comes in another rhythm");
}

/// Returns whether a list allows something that another did not; an empty list allows everything.
fn admits_more(old: &[String], new: &[String]) -> bool {
    !old.is_empty() && (new.is_empty() || new.iter().any(|tool| !old.contains(tool)))
}

fn usable_tools(task: &TaskNode) -> Vec<String> {
    task.tool_affinity.keys().filter(|tool| task.can_use_tool(tool)).cloned().collect()
}

/// Returns every command of a task, byte for byte, with its purpose.
fn task_commands(task: &TaskNode) -> BTreeSet<(&'static str, &str)> {
    let own = match &task.run {
        RunKind::Shell(command) => Some(("run", command.as_str())),
        _ => None,
    };
    let checks = task.exit_criteria.iter().filter_map(|criterion| match criterion {
        ExitCriterion::Command { command, .. } => Some(("check", command.as_str())),
        _ => None,
    });
    own.into_iter().chain(checks).collect()
}

/// Returns the hosts that a task mentions, in its text, its commands and its list of hosts.
fn named_hosts(task: &TaskNode) -> BTreeSet<String> {
    let listed = task.metadata.get("hosts").and_then(Value::as_array);
    let mut found: BTreeSet<String> = listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_ascii_lowercase)
        .collect();
    let texts = task_commands(task).into_iter().map(|(_, command)| command);
    for text in texts.chain([task.description.as_str()]) {
        for (at, mark) in text.match_indices("://") {
            let rest = &text[at + mark.len()..];
            let end = rest.find(|c: char| c.is_whitespace() || "/?#\"')>".contains(c));
            let authority = &rest[..end.unwrap_or(rest.len())];
            let host = authority.rsplit('@').next().unwrap_or(authority);
            found.insert(host.to_ascii_lowercase());
        }
    }
    found
}

/// Returns for each task the human tasks that precede it, directly or transitively. Milestones complete by themselves.
fn human_predecessors(plan: &Plan) -> BTreeMap<&TaskId, BTreeSet<&TaskId>> {
    let tasks: BTreeMap<&TaskId, &TaskNode> =
        plan.tasks.iter().map(|task| (&task.id, task)).collect();
    let is_person = |task: &TaskNode| {
        let milestone = task.metadata.get("milestone") == Some(&Value::Bool(true));
        !is_automated(task) && !milestone
    };
    let mut found = BTreeMap::new();
    for task in plan.tasks.iter().filter(|task| is_automated(task)) {
        let mut seen = BTreeSet::new();
        let mut stack = vec![task];
        while let Some(next) = stack.pop() {
            for link in next.dependencies.iter().filter(|link| link.blocks_execution()) {
                if let Some(before) = tasks.get(&link.task).filter(|task| seen.insert(&task.id)) {
                    stack.push(before);
                }
            }
        }
        let people =
            seen.into_iter().filter(|id| tasks.get(*id).is_some_and(|task| is_person(task)));
        found.insert(&task.id, people.collect());
    }
    found
}
