//! Task graphs of plans that were drafted offline.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use jiff::civil::date;

use planwright_drafting::offline::{self, RoadmapPreferences, SubtypeProposals, TemplateLibrary};
use planwright_model::{
    ExitCriterion, LinkKind, NodeDependency, NodeOrigin, NodeType, Plan, PlanContext, PlanNode,
    Roadmap, RunKind, TaskId, TaskNode,
};
use planwright_plan::grammar::PlanArtifacts;
use planwright_plan::graph::resolve_graph;
use planwright_plan::roadmap_to_plan::*;
use planwright_schedule::{ScheduleRequest, schedule_roadmap};
use serde_json::json;

const GOALS: [&str; 5] = [
    "launch a newsletter in 6 weeks",
    "learn Rust, 5 hours a week",
    "migrate service X from Python to Rust",
    "marathon training 16 weeks",
    "weekly review routine",
];

/// Drafts, builds and schedules a goal.
fn goal(text: &str) -> PlanArtifacts {
    let library = TemplateLibrary::fixture();
    let context = PlanContext::new(text, date(2026, 6, 8), "Europe/Berlin");
    let draft =
        offline::draft_outline(context, &library, date(2026, 6, 7), SubtypeProposals::Off).unwrap();
    let mut plan = PlanArtifacts::new(draft.outline);
    plan.roadmap = Some(
        offline::build_roadmap(&plan.outline, &library, RoadmapPreferences::default())
            .unwrap()
            .roadmap,
    );
    let roadmap = plan.roadmap.clone().unwrap();
    plan.schedule =
        Some(schedule_roadmap(&ScheduleRequest::new(&roadmap, plan.context())).unwrap());
    plan
}

fn plan(found: &PlanArtifacts) -> Plan {
    plan_from_roadmap(found.context(), found.roadmap.as_ref().unwrap(), found.schedule.as_ref())
}

fn task<'a>(plan: &'a Plan, id: &str) -> &'a TaskNode {
    plan.tasks.iter().find(|task| task.id.as_str() == id).unwrap()
}

fn waits(task: &TaskNode) -> Vec<String> {
    let shown = |link: &planwright_model::TaskLink| match link.lag_minutes {
        0 => format!("{} {:?}", link.task, link.kind),
        lag => format!("{} {:?} {lag}", link.task, link.kind),
    };
    task.dependencies.iter().map(shown).collect()
}

#[test]
fn the_five_goals_give_acyclic_plans_in_the_order_of_their_schedules() {
    for text in GOALS {
        let found = goal(text);
        let plan = plan(&found);
        let roadmap = found.roadmap.as_ref().unwrap();
        assert_eq!(plan.tasks.len(), roadmap.node_tree().leaves(&roadmap.root_id).len(), "{text}");
        let resolved = resolve_graph(&plan.tasks, |_| true).unwrap();
        assert_eq!(resolved.order.len(), plan.tasks.len(), "{text}");
        let schedule = found.schedule.as_ref().unwrap();
        let mut spans: HashMap<&TaskId, (Timestamp, Timestamp)> = HashMap::new();
        for block in &schedule.blocks {
            let span = spans.entry(&block.plan_node_id).or_insert((block.start.at, block.end.at));
            *span = (span.0.min(block.start.at), span.1.max(block.end.at));
        }
        let mut checked = 0;
        for task in &plan.tasks {
            for link in &task.dependencies {
                let (Some(from), Some(to)) = (spans.get(&link.task), spans.get(&task.id)) else {
                    continue;
                };
                let holds = match link.kind {
                    LinkKind::FS => from.1 <= to.0,
                    LinkKind::SS => from.0 <= to.0,
                    LinkKind::FF | LinkKind::SF => continue,
                };
                assert!(holds, "{text}: {} {:?} {}", link.task, link.kind, task.id);
                checked += 1;
            }
        }
        assert!(checked > 0, "{text}");
    }
}

#[test]
fn dependencies_of_the_roadmap_are_kept_in_the_plan() {
    for text in GOALS {
        let found = goal(text);
        let plan = plan(&found);
        let roadmap = found.roadmap.as_ref().unwrap();
        let tree = roadmap.node_tree();
        let place: HashMap<&TaskId, usize> =
            plan.tasks.iter().enumerate().map(|(place, task)| (&task.id, place)).collect();
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); plan.tasks.len()];
        for index in resolve_graph(&plan.tasks, |_| true).unwrap().order {
            let index = index as usize;
            for link in &plan.tasks[index].dependencies {
                let from = place[&link.task];
                let mut all = before[from].clone();
                all.insert(from);
                before[index].extend(all);
            }
        }
        for link in roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS) {
            for from in tree.leaves(&link.from) {
                for to in tree.leaves(&link.to) {
                    let beside = recurrence_of(from, &tree).is_some();
                    let ordered = before[place[&to.id]].contains(&place[&from.id]);
                    assert!(beside || ordered, "{text}: {} before {}", from.id, to.id);
                }
            }
        }
    }
}

#[test]
fn a_newsletter_becomes_tasks_with_their_criteria_phases_and_starts() {
    let found = goal(GOALS[0]);
    let plan = plan(&found);
    assert_eq!(plan.goal.as_deref(), Some(GOALS[0]));
    let page = task(&plan, "p3.t1");
    assert_eq!(page.description, "Write the landing page for the newsletter");
    assert_eq!((&page.run, page.duration_minutes), (&RunKind::Human {}, Some(240)));
    assert!(
        matches!(&page.exit_criteria[..], [ExitCriterion::Text { text, .. }] if !text.is_empty())
    );
    assert_eq!(page.metadata["phase"], "p3");
    assert!(page.metadata["first_start"].as_str().unwrap().starts_with("2026-06-"));
    assert_eq!(waits(page), ["p2.t1 SS 495"]);
    let gate = task(&plan, "p4.t1");
    assert_eq!((gate.duration_minutes, &gate.metadata["gate"]), (Some(0), &json!(true)));
    assert_eq!(waits(gate), ["p2.t4 FS", "p3.t3 FS"]);
    assert!(!gate.metadata.contains_key("milestone"));
    let end = task(&plan, "m1");
    assert_eq!((end.duration_minutes, &end.metadata["milestone"]), (Some(0), &json!(true)));
    assert_eq!(waits(end), ["p5.t2 FS"]);
}

#[test]
fn a_routine_is_one_task_per_step_and_its_rounds_do_not_wait_for_each_other() {
    let found = goal(GOALS[4]);
    let plan = plan(&found);
    let step = task(&plan, "c1.t2");
    assert_eq!(waits(step), ["c1.t1 SS"]);
    assert_eq!(step.metadata["recurrence"]["freq"], "weekly");
    assert!(step.metadata["occurrences"].as_u64().unwrap() >= 8);
    assert_eq!(waits(task(&plan, "c1.t1")), Vec::<String>::new(), "no round waits for another");
}

#[test]
fn an_agents_task_has_its_kind_of_work() {
    let mut found = goal(GOALS[0]);
    let roadmap = found.roadmap.as_mut().unwrap();
    for node in &mut roadmap.nodes {
        match node.id.as_str() {
            "p2.t1" => {
                node.title = "Write a script that sends the issue".into();
                node.run = Some(RunKind::agent());
                node.origin = NodeOrigin::AiAdaptation;
            }
            "p2.t2" => node.run = Some(RunKind::Shell("make send".into())),
            "p4.t1" => node.run = Some(RunKind::agent()),
            _ => {}
        }
    }
    let plan = plan(&found);
    let script = task(&plan, "p2.t1");
    assert_eq!((script.task_type.as_str(), script.agent_role.as_str()), ("code_create", "coder"));
    assert_eq!((script.estimated_tokens, script.origin), (8_000, NodeOrigin::AiAdaptation));
    assert_eq!(task(&plan, "p2.t2").run, RunKind::Shell("make send".into()));
    assert_eq!(task(&plan, "p4.t1").run, RunKind::Human {});
}

#[test]
fn links_of_containers_use_their_ends_and_keep_kind_and_lag() {
    let root = PlanNode::new_goal("g", "Goal");
    let mut nodes = vec![root.clone()];
    for name in ["a", "b"] {
        let phase = PlanNode::new_child(&root, name, NodeType::Phase, name);
        for step in 1..=3u16 {
            let id = format!("{name}{step}");
            let mut leaf = PlanNode::new_child(&phase, id, NodeType::Task, "Task");
            leaf.position = step;
            leaf.estimate_minutes = Some(30);
            nodes.push(leaf);
        }
        nodes.push(phase);
    }
    let context = PlanContext::new("goal", date(2026, 6, 8), "UTC");
    let mut outline = planwright_model::PlanOutline::new("g", context.clone());
    outline.nodes = nodes;
    let expanded = |links: Vec<NodeDependency>| {
        let plan = plan_from_roadmap(&context, &Roadmap::new(&outline, links), None);
        ["b1", "b2", "b3"].map(|id| waits(task(&plan, id)))
    };
    let chain = NodeDependency::finish_to_start("a1", "a2");
    let into = NodeDependency::new("b1", "b3", LinkKind::SS);
    let all = |kind, lag| {
        expanded(vec![
            chain.clone(),
            into.clone(),
            NodeDependency::new("a", "b", kind).with_lag(lag),
        ])
    };
    assert_eq!(
        all(LinkKind::FS, 0),
        [vec!["a2 FS", "a3 FS"], vec!["a2 FS", "a3 FS"], vec!["b1 SS"]]
    );
    assert_eq!(all(LinkKind::SS, 60), [vec!["a1 SS 60"], vec!["a1 SS 60"], vec!["b1 SS"]]);
    assert_eq!(all(LinkKind::FF, 15)[2], ["b1 SS", "a2 FF 15", "a3 FF 15"]);
    assert_eq!(all(LinkKind::SF, 0)[2], ["b1 SS", "a1 SF"]);
}
