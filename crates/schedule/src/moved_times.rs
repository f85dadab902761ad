//! Says which times of repeating tasks were moved because something else is there already.

use std::collections::BTreeMap;

use jiff::civil::Time;

use super::OtherBlock;
use crate::calendar::{find_zone, resolve_local};
use planwright_model::{FixedEvent, PlanNode, Roadmap, Schedule, ScheduledBlock, TaskId};
use planwright_text::dates::format_time;
use planwright_text::{clean_line, units};

/// The times of a repeating task that are not when they should be.
struct MovedTimes<'a> {
    node: &'a PlanNode,
    wanted: Time,
    /// The first of them.
    at: Time,
    moved: usize,
    all: usize,
    /// What is there instead.
    because: Option<String>,
}

/// Returns a few words for each repeating task that gives way to something else, with what that is where it is known.
pub fn describe_moved_times(
    roadmap: &Roadmap,
    schedule: &Schedule,
    others: &[OtherBlock],
    events: &[FixedEvent],
) -> Vec<String> {
    let tree = roadmap.node_tree();
    let root_of = |id: &TaskId| {
        let own = roadmap.find_node(id).into_iter();
        own.chain(tree.ancestors(id)).find(|node| node.recurrence.is_some())
    };
    // The first block of each occurrence tells when the session starts.
    let mut starts: BTreeMap<(&TaskId, u32), &ScheduledBlock> = BTreeMap::new();
    for block in &schedule.blocks {
        if let (Some(root), Some(occurrence)) = (root_of(&block.plan_node_id), block.occurrence) {
            starts.entry((&root.id, occurrence)).or_insert(block);
        }
    }
    let Ok(zone) = find_zone(&schedule.tz) else { return Vec::new() };
    let mut found: BTreeMap<&TaskId, MovedTimes<'_>> = BTreeMap::new();
    for ((id, _), block) in starts {
        let Some(node) = roadmap.find_node(id) else { continue };
        let Some(wanted) = node.recurrence.as_ref().and_then(|rule| rule.at_local) else {
            continue;
        };
        let local = zone.to_datetime(block.start.at);
        let due = resolve_local(local.date().to_datetime(wanted), &zone);
        let first = MovedTimes { node, wanted, at: wanted, moved: 0, all: 0, because: None };
        let times = found.entry(id).or_insert(first);
        times.all += 1;
        if block.start.at <= due {
            continue;
        }
        times.moved += 1;
        if times.moved == 1 {
            times.at = local.time();
            let there =
                |start: jiff::Timestamp, end: jiff::Timestamp| start < block.start.at && end > due;
            let plan = others.iter().find(|other| there(other.block.start.at, other.block.end.at));
            let event = events.iter().find(|event| there(event.start.at, event.end.at));
            times.because =
                plan.map(|other| other.plan.clone()).or(event.map(|event| event.title.clone()));
        }
    }
    let moved = found.into_values().filter(|times| times.moved > 0);
    moved.map(|times| times.describe()).collect()
}

impl MovedTimes<'_> {
    fn describe(&self) -> String {
        let how_often = if self.moved == self.all {
            String::new()
        } else {
            format!(" {} of {}", self.moved, units::format_counted(self.all, "time"))
        };
        let because = match &self.because {
            Some(other) => format!(", \"{}\" is there already", clean_line(other)),
            None => ", something else is there already".to_owned(),
        };
        format!(
            "\"{}\" starts at {} instead of {}{how_often}{because}",
            clean_line(&self.node.title),
            format_time(self.at),
            format_time(self.wanted)
        )
    }
}
