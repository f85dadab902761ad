//! Moves one block to another time: it stays where the person puts it, and only the blocks that it displaces or delays
//! are placed again.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{ScheduleRequest, schedule_roadmap};
use crate::calendar::find_zone;
use planwright_model::{OffsetDateTime, PlanContext, Roadmap, Schedule, ScheduledBlock, TaskId};

/// The number of generated schedules for the displaced blocks, which are few; everything else is fixed.
const ITERATIONS: u64 = 40;

/// A block and its new time.
#[derive(Clone, Copy)]
pub struct BlockMoveRequest<'a> {
    pub schedule: &'a Schedule,
    pub roadmap: &'a Roadmap,
    pub context: &'a PlanContext,
    pub block: &'a str,
    pub to: Timestamp,
    pub now: Timestamp,
    /// Returns whether the work of a block is finished, so that nothing moves it.
    pub settled: &'a dyn Fn(&ScheduledBlock) -> bool,
    /// Returns the tasks that depend on a task, directly or transitively.
    pub waits_for: &'a dyn Fn(&TaskId) -> Vec<TaskId>,
    /// Returns the tasks that have to be done before a task starts.
    pub starts_after: &'a dyn Fn(&TaskId) -> Vec<TaskId>,
}

impl std::fmt::Debug for BlockMoveRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockMoveRequest")
            .field("block", &self.block)
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}

/// The result of a move.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMoveOutcome {
    pub schedule: Schedule,
    /// The block before the move.
    pub before: ScheduledBlock,
    /// The number of other blocks that have a new time.
    pub displaced: usize,
}

/// Moves a block. `Err` describes why it cannot be moved.
pub fn move_block(request: &BlockMoveRequest<'_>) -> Result<BlockMoveOutcome, String> {
    let found = request.schedule.blocks.iter().find(|block| block.id == request.block);
    let before = found.ok_or_else(|| format!("there is no block {}", request.block))?;
    if (request.settled)(before) {
        return Err(format!("\"{}\" is settled; there is nothing to move", before.title));
    }
    // Times have no seconds: the minute that runs is not over.
    if request.to.as_second() / 60 < request.now.as_second() / 60 {
        return Err("that time is over; name a later one".to_owned());
    }
    let zone = find_zone(&request.schedule.tz).map_err(|error| error.to_string())?;
    if let Some(first) = blocking_block(request, before) {
        return Err(describe_blocking_block(first, request, &zone));
    }
    let start = OffsetDateTime::in_zone(request.to, &zone);
    let end =
        OffsetDateTime::in_zone(start.plus_minutes(before.estimated_minutes.into()).at, &zone);
    let moved = ScheduledBlock { start, end, locked: true, ..before.clone() };
    let displaced = displaced_blocks(request, &moved);
    let keep = |block: &&ScheduledBlock| block.id != moved.id && !displaced.contains(&*block.id);
    let mut kept: Vec<ScheduledBlock> =
        request.schedule.blocks.iter().filter(keep).cloned().collect();
    kept.push(moved.clone());
    let mut after = request.schedule.clone();
    if displaced.is_empty() {
        after.blocks = kept;
        after.horizon_end = after.horizon_end.max(end);
        after.sort_blocks();
    } else {
        let mut rescheduling = ScheduleRequest::new(request.roadmap, request.context);
        rescheduling.locked = &kept;
        rescheduling.not_before = Some(request.now);
        rescheduling.iterations = ITERATIONS;
        after = schedule_roadmap(&rescheduling).map_err(|error| error.to_string())?;
        // Everything was locked for this run; blocks that the person had not locked stay movable.
        for block in &mut after.blocks {
            let previous = request.schedule.blocks.iter().find(|previous| previous.id == block.id);
            block.locked = block.id == moved.id || previous.is_some_and(|previous| previous.locked);
        }
    }
    let other_time = |block: &&ScheduledBlock| {
        block.id != moved.id
            && !request.schedule.blocks.iter().any(|previous| {
                previous.plan_node_id == block.plan_node_id
                    && previous.occurrence == block.occurrence
                    && previous.start == block.start
            })
    };
    let displaced = after.blocks.iter().filter(other_time).count();
    Ok(BlockMoveOutcome { schedule: after, before: before.clone(), displaced })
}

/// Returns the last block of what has to be done first and is planned to end later than the new time, if any. What is
/// settled is no obstacle.
fn blocking_block<'a>(
    request: &BlockMoveRequest<'a>,
    moving: &ScheduledBlock,
) -> Option<&'a ScheduledBlock> {
    let first = (request.starts_after)(&moving.plan_node_id);
    let same_time = |block: &ScheduledBlock| match (block.occurrence, moving.occurrence) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    let blocks = request.schedule.blocks.iter();
    let blocks = blocks.filter(|block| first.contains(&block.plan_node_id) && same_time(block));
    let blocks = blocks.filter(|block| block.end.at > request.to && !(request.settled)(block));
    blocks.max_by_key(|block| block.end)
}

fn describe_blocking_block(
    first: &ScheduledBlock,
    request: &BlockMoveRequest<'_>,
    zone: &jiff::tz::TimeZone,
) -> String {
    let today = request.now.to_zoned(zone.clone()).date();
    let end = first.end.at.to_zoned(zone.clone()).datetime();
    format!(
        "\"{}\" comes first and is planned until {}; move that first",
        first.title,
        planwright_text::dates::format_date_time(end, today)
    )
}

/// Returns the ids of the blocks that cannot stay: those at the same time, and those of dependent tasks that would
/// start too early.
fn displaced_blocks<'a>(
    request: &BlockMoveRequest<'a>,
    moved: &ScheduledBlock,
) -> BTreeSet<&'a str> {
    let movable = |block: &&ScheduledBlock| {
        block.id != moved.id && !block.locked && !(request.settled)(block)
    };
    let blocks: Vec<&ScheduledBlock> = request.schedule.blocks.iter().filter(movable).collect();
    let after: BTreeSet<TaskId> = (request.waits_for)(&moved.plan_node_id).into_iter().collect();
    let same = |block: &ScheduledBlock| {
        block.plan_node_id == moved.plan_node_id && block.occurrence == moved.occurrence
    };
    let owner = |id: &TaskId| {
        request.roadmap.find_node(id).and_then(planwright_model::PlanNode::other_owner)
    };
    let disturbed = |block: &ScheduledBlock| {
        let too_early = block.start < moved.end;
        (block.overlaps(moved) && owner(&block.plan_node_id) == owner(&moved.plan_node_id))
            || (too_early && after.contains(&block.plan_node_id))
            || (too_early && same(block) && block.sequence > moved.sequence)
    };
    let mut nodes: BTreeSet<TaskId> = BTreeSet::new();
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    for block in blocks.iter().filter(|block| disturbed(block)) {
        ids.insert(&block.id);
        nodes.extend((request.waits_for)(&block.plan_node_id));
    }
    // Tasks that depend on a moved task may have to move as well.
    ids.extend(blocks.iter().filter(|block| nodes.contains(&block.plan_node_id)).map(|b| &*b.id));
    ids
}
