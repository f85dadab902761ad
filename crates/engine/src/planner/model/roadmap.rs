//! A model's estimates and links on top of the built-in roadmap.

use std::collections::BTreeSet;

use serde_json::Value;

use super::nodes::self_score;
use crate::planner::roadmap::update_derived_fields;
use planwright_model::{LinkKind, LinkOrigin, NodeDependency, NodeOrigin, Roadmap, TaskId};

/// Takes what names existing leaves and nodes; the rest is dropped and told. Locked nodes and what the person set stay.
pub(super) fn refine_roadmap(
    base: &Roadmap,
    args: &Value,
    locked: &BTreeSet<TaskId>,
) -> (Roadmap, f64, Vec<String>) {
    let mut roadmap = base.clone();
    let mut notes = Vec::new();
    let list = |name: &str| {
        args.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().to_vec()
    };
    let word = |value: &Value, name: &str| {
        TaskId::from(value.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default())
    };
    let leaves: BTreeSet<TaskId> =
        base.node_tree().leaves(&base.root_id).into_iter().map(|leaf| leaf.id.clone()).collect();
    for estimate in list("estimates") {
        let id = word(&estimate, "id");
        let minutes = estimate.get("minutes").and_then(Value::as_u64).unwrap_or(0);
        let fixed = locked.contains(&id);
        let node = roadmap.nodes.iter_mut().find(|node| node.id == id && leaves.contains(&id));
        match (node, u32::try_from(minutes)) {
            (Some(node), Ok(minutes @ 1..=9600))
                if !fixed && !node.milestone && node.origin != NodeOrigin::UserFeedback =>
            {
                // Quarters of an hour are as exact as an estimate is.
                node.estimate_minutes = Some(minutes.div_ceil(15) * 15);
            }
            (Some(_), _) => {}
            (None, _) => {
                notes.push(format!("unknown_field: estimate for \"{id}\", which is no leaf"));
            }
        }
    }
    for link in list("links") {
        let (from, to) = (word(&link, "from"), word(&link, "to"));
        let known = |id: &TaskId| base.nodes.iter().any(|node| node.id == *id);
        let tree = base.node_tree();
        let holds = known(&from)
            && known(&to)
            && from != to
            && !tree.is_ancestor(&from, &to)
            && !tree.is_ancestor(&to, &from);
        if !holds {
            notes.push(format!("dependency_missing: {from} -> {to}"));
            continue;
        }
        if roadmap.dependencies.iter().any(|other| other.from == from && other.to == to) {
            continue;
        }
        let kind = match link.get("kind").and_then(Value::as_str) {
            Some("SS") => LinkKind::SS,
            Some("FF") => LinkKind::FF,
            Some("SF") => LinkKind::SF,
            _ => LinkKind::FS,
        };
        let lag = link.get("lag_minutes").and_then(Value::as_i64).unwrap_or(0);
        let mut added = NodeDependency::new(from, to, kind);
        added.lag_minutes = i32::try_from(lag).unwrap_or(0).clamp(-9600, 9600);
        added.origin = LinkOrigin::AiAdaptation;
        link.get("why")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .clone_into(&mut added.rationale);
        roadmap.dependencies.push(added);
    }
    update_derived_fields(&mut roadmap);
    (roadmap, self_score(args), notes)
}
