//! Plans what is not done yet again, from a moment on. What is done stays where it was and is never booked again.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{OtherBlock, ScheduleError, ScheduleRequest, schedule_roadmap};
use planwright_model::catch_up::OpenWork;
use planwright_model::{
    FixedEvent, LinkKind, NodeTree, PlanContext, PlanNode, Roadmap, Schedule, ScheduledBlock,
    TaskId,
};

/// Blocks start at multiples of this many minutes, so that nobody is asked to begin at 10:07.
const START_STEP_MINUTES: i64 = 15;
/// What stands between a repeating task's id and the number of its time, while one time is planned as a task.
const TIME_MARK: &str = "@late";

/// What to plan again.
#[derive(Clone, Copy, Debug)]
pub struct OpenWorkRequest<'a> {
    pub roadmap: &'a Roadmap,
    pub context: &'a PlanContext,
    pub schedule: &'a Schedule,
    pub work: &'a OpenWork,
    pub events: &'a [FixedEvent],
    pub others: &'a [OtherBlock],
    pub now: Timestamp,
    pub seed: u64,
}

/// Returns the first moment from now on at which work may start.
pub fn next_start(now: Timestamp) -> Timestamp {
    let step = START_STEP_MINUTES * 60;
    let seconds = now.as_second();
    let rest = seconds.rem_euclid(step);
    let nanos = now.subsec_nanosecond() != 0;
    if rest == 0 && !nanos {
        return now;
    }
    Timestamp::from_second(seconds - rest + step).unwrap_or(now)
}

/// Plans again what is open. `stays` decides for a block that is not over yet whether it keeps its time; blocks of late
/// work never do. Times of repeating tasks keep theirs unless they are late.
pub fn replan_open_work(
    request: &OpenWorkRequest<'_>,
    stays: &dyn Fn(&ScheduledBlock) -> bool,
) -> Result<Schedule, ScheduleError> {
    let work = request.work;
    let tree = NodeTree::new(&request.roadmap.nodes);
    let repeats = |task: &TaskId| tree.get(task).is_some_and(|node| node.recurrence.is_some());
    let waiting = waiting_tasks(request.roadmap, work);
    let (mut kept, mut locked, mut busy) = (Vec::new(), Vec::new(), Vec::new());
    for block in &request.schedule.blocks {
        let (task, occurrence) = (&block.plan_node_id, block.occurrence);
        let over = block.end.at <= request.now;
        if work.is_settled(task, occurrence) {
            // The time that a task done early no longer needs is free.
            if block.start.at <= request.now {
                kept.push(block.clone());
            }
        } else if work.is_late(task, occurrence) {
        } else if repeats(task) {
            kept.push(block.clone());
            busy.push(other_block(block));
        } else if if over { !waiting.contains(task) } else { stays(block) } {
            locked.push(block.clone());
        }
    }
    let reduced = reduce_roadmap(request.roadmap, work);
    let others: Vec<OtherBlock> = request.others.iter().cloned().chain(busy).collect();
    let wanted = ScheduleRequest {
        events: request.events,
        others: &others,
        locked: &locked,
        not_before: Some(next_start(request.now)),
        seed: request.seed,
        ..ScheduleRequest::new(&reduced, request.context)
    };
    let mut made = schedule_roadmap(&wanted)?;
    restore_blocks(&mut made, request.schedule);
    made.blocks.extend(kept);
    made.horizon_start = made.horizon_start.min(request.schedule.horizon_start);
    made.sort_blocks();
    Ok(made)
}

/// Returns the tasks that wait for the end of something that is not done. Nobody can have worked on them, whatever
/// their blocks say.
pub(crate) fn waiting_tasks(roadmap: &Roadmap, work: &OpenWork) -> BTreeSet<TaskId> {
    let tree = NodeTree::new(&roadmap.nodes);
    let leaves = |id: &TaskId| -> Vec<TaskId> {
        if tree.is_leaf(id) {
            return vec![id.clone()];
        }
        tree.leaves(id).iter().map(|leaf| leaf.id.clone()).collect()
    };
    let is_open = |id: &TaskId| {
        let works = tree.get(id).is_some_and(|node| node.work_minutes() > 0);
        works && !work.settled_tasks.contains(id)
    };
    let ends = roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS);
    ends.filter(|link| leaves(&link.from).iter().any(is_open))
        .flat_map(|link| leaves(&link.to))
        .collect()
}

fn other_block(block: &ScheduledBlock) -> OtherBlock {
    OtherBlock { plan: String::new(), priority_weight: 1.0, block: block.clone() }
}

/// Returns the roadmap without what is settled and without repeating tasks; each late time of those becomes a task.
fn reduce_roadmap(roadmap: &Roadmap, work: &OpenWork) -> Roadmap {
    let tree = NodeTree::new(&roadmap.nodes);
    let mut reduced = roadmap.clone();
    let leaf = |node: &PlanNode| tree.is_leaf(&node.id);
    let mut nodes: Vec<PlanNode> = roadmap
        .nodes
        .iter()
        .filter(|node| {
            !leaf(node) || (node.recurrence.is_none() && !work.settled_tasks.contains(&node.id))
        })
        .cloned()
        .collect();
    for late in &work.late {
        let Some(node) = tree.get(&late.task).filter(|node| node.recurrence.is_some()) else {
            continue;
        };
        let number = late.occurrence.unwrap_or(0);
        nodes.push(PlanNode {
            id: TaskId::from(format!("{}{TIME_MARK}{number}", node.id).as_str()),
            recurrence: None,
            ..node.clone()
        });
    }
    let goal = &roadmap.root_id;
    // A phase whose tasks are all done would otherwise count as a task itself.
    loop {
        let parents: BTreeSet<TaskId> =
            nodes.iter().filter_map(|node| node.parent_id.clone()).collect();
        let empty = |node: &PlanNode| {
            node.id != *goal
                && !parents.contains(&node.id)
                && tree.get(&node.id).is_some_and(|own| !leaf(own))
        };
        let before = nodes.len();
        nodes.retain(|node| !empty(node));
        if nodes.len() == before {
            break;
        }
    }
    let known: BTreeSet<&TaskId> = nodes.iter().map(|node| &node.id).collect();
    reduced.dependencies.retain(|link| known.contains(&link.from) && known.contains(&link.to));
    reduced.nodes = nodes;
    reduced
}

/// Gives times of repeating tasks their task back, and blocks that were locked for the run their old state.
fn restore_blocks(made: &mut Schedule, before: &Schedule) {
    for block in &mut made.blocks {
        if let Some((task, number)) = block.plan_node_id.as_str().rsplit_once(TIME_MARK) {
            let (task, number) = (TaskId::from(task), number.parse::<u32>().ok());
            block.id = format!("{task}@{}#{}+", number.unwrap_or(0), block.sequence);
            block.plan_node_id = task;
            block.occurrence = number;
            // It is at another time than its rule says, and must stay there.
            block.locked = true;
            continue;
        }
        let previous = before.blocks.iter().find(|previous| previous.id == block.id);
        block.locked = previous.is_some_and(|previous| {
            previous.locked && previous.start == block.start && previous.end == block.end
        });
    }
}

/// Returns the minutes of the busiest week from `now` on.
pub(crate) fn busiest_week_minutes(blocks: &[ScheduledBlock], now: Timestamp) -> u32 {
    let mut weeks: std::collections::BTreeMap<jiff::civil::Date, u32> =
        std::collections::BTreeMap::new();
    let monday = |block: &ScheduledBlock| crate::calendar::monday_of(block.start.local_date());
    let floor = now - SignedDuration::from_hours(7 * 24);
    for block in blocks.iter().filter(|block| block.start.at > floor) {
        *weeks.entry(monday(block)).or_default() += block.estimated_minutes;
    }
    let open = |block: &ScheduledBlock| block.end.at > now;
    let from = blocks.iter().filter(|block| open(block)).map(monday).min();
    let from = from.unwrap_or_default();
    weeks
        .into_iter()
        .filter(|(week, _)| *week >= from)
        .map(|(_, minutes)| minutes)
        .max()
        .unwrap_or(0)
}
