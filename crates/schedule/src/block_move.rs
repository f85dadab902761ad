//! Moving one block to another time: it stays where the person puts it, and only what it displaces or holds up finds
//! another place.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{ScheduleRequest, schedule_roadmap};
use crate::calendar::find_zone;
use planwright_model::{OffsetDateTime, PlanContext, Roadmap, Schedule, ScheduledBlock, TaskId};

/// Generated schedules for what was displaced: a few blocks, around everything else.
const ITERATIONS: u64 = 40;

/// A block and where it is to go.
#[derive(Clone, Copy)]
pub struct BlockMoveRequest<'a> {
    pub schedule: &'a Schedule,
    pub roadmap: &'a Roadmap,
    pub context: &'a PlanContext,
    pub block: &'a str,
    pub to: Timestamp,
    pub now: Timestamp,
    /// Whether the work of a block is over, so that nothing moves it.
    pub settled: &'a dyn Fn(&ScheduledBlock) -> bool,
    /// The tasks that wait for a task, directly or not.
    pub waits_for: &'a dyn Fn(&TaskId) -> Vec<TaskId>,
}

impl std::fmt::Debug for BlockMoveRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MoveWish")
            .field("block", &self.block)
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMoveOutcome {
    pub schedule: Schedule,
    /// The block as it stood.
    pub before: ScheduledBlock,
    /// How many other blocks have another time now.
    pub displaced: usize,
}

/// Moves a block. `Err` says in words why it cannot be.
pub fn move_block(wish: &BlockMoveRequest<'_>) -> Result<BlockMoveOutcome, String> {
    let found = wish.schedule.blocks.iter().find(|block| block.id == wish.block);
    let before = found.ok_or_else(|| format!("there is no block {}", wish.block))?;
    if (wish.settled)(before) {
        return Err(format!("\"{}\" is settled; there is nothing to move", before.title));
    }
    if wish.to < wish.now {
        return Err("that time is over; name a later one".to_owned());
    }
    let zone = find_zone(&wish.schedule.tz).map_err(|error| error.to_string())?;
    let start = OffsetDateTime::in_zone(wish.to, &zone);
    let end =
        OffsetDateTime::in_zone(start.plus_minutes(before.estimated_minutes.into()).at, &zone);
    let moved = ScheduledBlock { start, end, locked: true, ..before.clone() };
    let displaced = displaced_blocks(wish, &moved);
    let keep = |block: &&ScheduledBlock| block.id != moved.id && !displaced.contains(&*block.id);
    let mut kept: Vec<ScheduledBlock> = wish.schedule.blocks.iter().filter(keep).cloned().collect();
    kept.push(moved.clone());
    let mut after = wish.schedule.clone();
    if displaced.is_empty() {
        after.blocks = kept;
        after.horizon_end = after.horizon_end.max(end);
        after.sort_blocks();
    } else {
        let mut request = ScheduleRequest::new(wish.roadmap, wish.context);
        request.locked = &kept;
        request.not_before = Some(wish.now);
        request.iterations = ITERATIONS;
        after = schedule_roadmap(&request).map_err(|error| error.to_string())?;
        // Everything was held for this once; what the person had not locked stays movable.
        for block in &mut after.blocks {
            let known = wish.schedule.blocks.iter().find(|known| known.id == block.id);
            block.locked = block.id == moved.id || known.is_some_and(|known| known.locked);
        }
    }
    let other_time = |block: &&ScheduledBlock| {
        block.id != moved.id
            && !wish.schedule.blocks.iter().any(|known| {
                known.plan_node_id == block.plan_node_id
                    && known.occurrence == block.occurrence
                    && known.start == block.start
            })
    };
    let displaced = after.blocks.iter().filter(other_time).count();
    Ok(BlockMoveOutcome { schedule: after, before: before.clone(), displaced })
}

/// The ids of the blocks that cannot stay: those at the same time, and those of waiting tasks that would begin too soon.
fn displaced_blocks<'a>(wish: &BlockMoveRequest<'a>, moved: &ScheduledBlock) -> BTreeSet<&'a str> {
    let movable =
        |block: &&ScheduledBlock| block.id != moved.id && !block.locked && !(wish.settled)(block);
    let blocks: Vec<&ScheduledBlock> = wish.schedule.blocks.iter().filter(movable).collect();
    let after: BTreeSet<TaskId> = (wish.waits_for)(&moved.plan_node_id).into_iter().collect();
    let same = |block: &ScheduledBlock| {
        block.plan_node_id == moved.plan_node_id && block.occurrence == moved.occurrence
    };
    let disturbed = |block: &ScheduledBlock| {
        let too_soon = block.start < moved.end;
        block.overlaps(moved)
            || (too_soon && after.contains(&block.plan_node_id))
            || (too_soon && same(block) && block.sequence > moved.sequence)
    };
    let mut nodes: BTreeSet<TaskId> = BTreeSet::new();
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    for block in blocks.iter().filter(|block| disturbed(block)) {
        ids.insert(&block.id);
        nodes.extend((wish.waits_for)(&block.plan_node_id));
    }
    // Whoever waits for something that moves may have to move as well.
    ids.extend(blocks.iter().filter(|block| nodes.contains(&block.plan_node_id)).map(|b| &*b.id));
    ids
}
