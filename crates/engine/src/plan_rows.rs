//! The table of plans as the journal tells it: one row for every version of a plan, with its nodes and its blocks.

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::event::{Event, PlanningEvent, Record};
use planwright_state::{PlanningSlice, SessionState};
use planwright_store::{BlockRow, PlanRow};

/// The row that an event changes, after it was folded. A new outline or roadmap has no blocks yet.
pub fn changed_plan_row(event: &Event, talk: &PlanningSlice) -> Option<PlanRow> {
    let Event::Planning(event) = event else { return None };
    match event {
        PlanningEvent::OutlineDrafted { .. }
        | PlanningEvent::RoadmapDrafted { .. }
        | PlanningEvent::Edited { .. }
        | PlanningEvent::Revised { draft: Some(_), .. }
        | PlanningEvent::ChangePutBack { .. }
        | PlanningEvent::Undone { .. } => plan_row(talk, false),
        PlanningEvent::ScheduleDrafted { .. } => plan_row(talk, true),
        _ => None,
    }
}

fn plan_row(talk: &PlanningSlice, scheduled: bool) -> Option<PlanRow> {
    let outline = talk.outline.as_deref()?;
    let pattern =
        outline.pattern.as_ref().or(talk.pattern.as_ref().map(|choice| &choice.pattern))?;
    let roadmap = talk.roadmap.as_deref().map(|roadmap| roadmap.nodes.as_slice());
    let nodes: BTreeSet<String> = outline
        .nodes
        .iter()
        .chain(roadmap.unwrap_or_default())
        .map(|node| node.id.to_string())
        .collect();
    let schedule = talk.schedule.as_deref().filter(|_| scheduled);
    let blocks = schedule.map(|schedule| schedule.blocks.as_slice()).unwrap_or_default();
    let blocks = blocks
        .iter()
        .filter(|block| nodes.contains(block.plan_node_id.as_str()))
        .map(|block| BlockRow {
            id: block.id.clone(),
            node: block.plan_node_id.to_string(),
            start: block.start.at.as_microsecond(),
            finish: block.end.at.as_microsecond(),
        })
        .collect();
    let goal_id = talk.thread_id.rsplit_once(':').map_or(talk.thread_id.as_str(), |(_, id)| id);
    Some(PlanRow {
        version: outline.version,
        goal_id: goal_id.to_owned(),
        pattern_type: pattern.pattern_type.as_str().to_owned(),
        pattern_subtype: pattern.subtype.clone(),
        pattern_variant: pattern
            .variant
            .clone()
            .or_else(|| Some(pattern.kind.as_ref()?.name.clone())),
        nodes: nodes.into_iter().collect(),
        blocks,
    })
}

/// All rows of a session, made from its events alone.
pub fn collect_plan_rows<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<PlanRow> {
    let mut state = SessionState::default();
    let mut rows = BTreeMap::new();
    for record in records {
        state.apply(record);
        if let Some(row) = changed_plan_row(&record.event, &state.planning) {
            rows.insert(row.version, row);
        }
    }
    rows.into_values().collect()
}
