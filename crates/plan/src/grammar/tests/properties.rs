//! No outline makes a rule or a fix panic.

use proptest::prelude::*;

use super::fixture::*;
use crate::grammar::{PlanArtifacts, Stage, repair_stage, validate_stage};
use planwright_model::{
    LinkKind, LinkOrigin, NodeDependency, NodeStatus, NodeType, PatternSpec, PatternType, PlanNode,
    Recurrence, Role, TaskId,
};

fn id() -> impl Strategy<Value = TaskId> {
    (0..9_u8).prop_map(|number| TaskId::from(format!("n{number}")))
}

fn any_node() -> impl Strategy<Value = PlanNode> {
    let place = (id(), prop::option::of(id()), any::<u8>(), 0..3_u16);
    let roles = [Role::Work, Role::Practice, Role::Review, Role::Deliverable, Role::Gate];
    let kind = (prop::sample::select(&NodeType::ALL[..]), prop::sample::select(roles.to_vec()));
    let rest = (any::<bool>(), any::<bool>(), prop::option::of(0..2000_u32), any::<u8>(), 0..3_u8);
    (place, kind, rest).prop_map(|((id, parent_id, level, position), (node_type, role), rest)| {
        let (milestone, repeats, estimate_minutes, intensity, stream) = rest;
        PlanNode {
            parent_id,
            level,
            position,
            node_type,
            role,
            milestone,
            estimate_minutes,
            intensity,
            stream: format!("s{stream}"),
            recurrence: repeats
                .then(|| Recurrence::every(planwright_model::RecurrenceFrequency::Weekly)),
            status: if repeats { NodeStatus::Blocked } else { NodeStatus::Pending },
            tags: vec![format!("week:{level}")],
            ..PlanNode::new_goal(id, "x")
        }
    })
}

fn any_link() -> impl Strategy<Value = NodeDependency> {
    let kinds = [LinkKind::FS, LinkKind::SS, LinkKind::FF, LinkKind::SF];
    let origins = [LinkOrigin::System, LinkOrigin::UserFeedback, LinkOrigin::Inferred];
    let ends = (id(), id());
    (
        ends,
        prop::sample::select(kinds.to_vec()),
        any::<i32>(),
        prop::sample::select(origins.to_vec()),
    )
        .prop_map(|((from, to), kind, lag, origin)| NodeDependency {
            origin,
            ..NodeDependency::new(from, to, kind).with_lag(lag)
        })
}

fn any_plan() -> impl Strategy<Value = PlanArtifacts> {
    let parts = (
        prop::collection::vec(any_node(), 0..12),
        prop::collection::vec(any_link(), 0..12),
        prop::sample::select(&PatternType::ALL[..]),
        id(),
        any::<bool>(),
    );
    parts.prop_map(|(nodes, links, pattern, root_id, has_roadmap)| {
        let mut plan = empty(PatternSpec::new(pattern));
        plan.outline.root_id = root_id;
        plan.outline.nodes = nodes;
        plan.draft_links = links;
        if has_roadmap { with_schedule(with_roadmap(plan)) } else { plan }
    })
}

/// Adds overlapping blocks for every node.
fn with_schedule(mut plan: PlanArtifacts) -> PlanArtifacts {
    let mut schedule = scheduled().schedule.unwrap();
    schedule.blocks.clear();
    for (index, node) in plan.outline.nodes.iter().enumerate() {
        let mut block =
            block(node.id.as_str(), "2026-06-01T09:00:00+02:00", i64::from(node.level) - 20);
        block.occurrence = node.recurrence.as_ref().map(|_| index as u32);
        block.locked = index % 3 == 0;
        schedule.blocks.push(block);
    }
    plan.schedule = Some(schedule);
    plan
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_outline_panics_and_every_repair_ends(plan in any_plan()) {
        for stage in [Stage::Outline, Stage::Roadmap, Stage::Schedule] {
            let mut plan = plan.clone();
            let first = validate_stage(stage, &plan);
            prop_assert_eq!(&first, &validate_stage(stage, &plan), "the same plan is judged alike");
            repair_stage(&mut plan, stage, now());
            validate_stage(stage, &plan);
        }
    }
}
