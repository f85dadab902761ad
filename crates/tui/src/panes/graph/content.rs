//! What stands on the frame of a box, and the line about the selected task.

use std::time::Duration;

use jiff::Timestamp;

use planwright_model::{LinkKind, RunKind, TaskLink, TaskNode};
use planwright_state::{SessionState, TaskRow, TaskStatus};
use planwright_text::{display_width, units};

/// The time of a task: how long it has taken, or a guess before it starts; cut to no fewer cells than it needs.
pub(super) fn task_time(node: &TaskNode, row: &TaskRow, now: Timestamp, room: usize) -> String {
    match row.status {
        TaskStatus::Pending => match node.duration_minutes.filter(|minutes| *minutes > 0) {
            Some(minutes) => {
                let short = units::format_planned(u64::from(minutes));
                let long = format!("about {short}");
                if long.len() <= room { long } else { short }
            }
            None => String::new(),
        },
        TaskStatus::Skipped(_) => "skipped".to_owned(),
        TaskStatus::Running | TaskStatus::Yours => row
            .elapsed_ms(now)
            .map(|ms| units::format_clock(Duration::from_millis(ms)))
            .unwrap_or_default(),
        _ => row
            .elapsed_ms(now)
            .map(|ms| units::format_elapsed(Duration::from_millis(ms)))
            .unwrap_or_default(),
    }
}

/// Who does a task, in a word.
pub(crate) fn task_worker(node: &TaskNode) -> &str {
    if let Some(owner) = node.other_owner() {
        return owner;
    }
    match &node.run {
        RunKind::Agent(run) if !run.is_built_in() => run.worker_title(),
        RunKind::Agent(_) if node.agent_role == planwright_model::task::DEFAULT_ROLE => "agent",
        RunKind::Agent(_) => &node.agent_role,
        RunKind::Shell(_) if !node.options.executor.is_empty() => &node.options.executor,
        RunKind::Shell(_) => "command",
        RunKind::Human {} => "you",
    }
}

/// What a link is called that is not simply "after": `starts with, +1 h`.
pub(crate) fn link_name(link: &TaskLink) -> Option<String> {
    let kind = match link.kind {
        LinkKind::FS => "after",
        LinkKind::SS => "starts with",
        LinkKind::FF => "ends with",
        LinkKind::SF => "ends after the start",
    };
    let lag = units::format_planned(u64::from(link.lag_minutes.unsigned_abs()));
    match link.lag_minutes {
        0 if link.kind == LinkKind::FS => None,
        0 => Some(kind.to_owned()),
        1.. => Some(format!("{kind}, +{lag}")),
        _ => Some(format!("{kind}, -{lag}")),
    }
}

/// Facts about the selected task, most important first.
pub(super) fn task_facts(state: &SessionState, task: usize, room: usize) -> Vec<String> {
    let width = |facts: &[String]| facts.iter().map(|fact| display_width(fact) + 3).sum::<usize>();
    let fits = |named: &(bool, bool)| width(&task_facts_with(state, task, *named)) <= room;
    let tried = [(true, true), (true, false), (false, false)];
    let named = tried.into_iter().find(fits).unwrap_or_default();
    task_facts_with(state, task, named)
}

/// The same, with two titles of what comes before and after, or else their number.
fn task_facts_with(
    state: &SessionState,
    task: usize,
    (named_before, named_after): (bool, bool),
) -> Vec<String> {
    let Some(revision) = &state.plan.current else { return Vec::new() };
    let Some(node) = revision.plan.tasks.get(task) else { return Vec::new() };
    let row = state.tasks.row(task);
    let mut facts = vec![worker_text(state, node)];
    if let Some(failure) = row.failure.as_ref().filter(|_| row.status == TaskStatus::Failed) {
        facts.push(failure.message.clone());
    }
    if row.attempt > 1 {
        facts.push(format!("attempt {}", row.attempt));
    }
    let titles = |tasks: Vec<usize>, named: bool| match tasks[..] {
        [only] => title_of(state, only).to_owned(),
        [first, second] if named => {
            format!("{}, {}", title_of(state, first), title_of(state, second))
        }
        _ => format!("{} tasks", tasks.len()),
    };
    let needs: Vec<usize> = state.tasks.dependencies(task).collect();
    if !needs.is_empty() {
        facts.push(format!("after {}", titles(needs, named_before)));
    }
    let unlocks: Vec<usize> = state.tasks.dependents(task).collect();
    if !unlocks.is_empty() {
        facts.push(format!("then {}", titles(unlocks, named_after)));
    }
    facts
}

/// Who does it, and with which command or how far.
fn worker_text(state: &SessionState, node: &TaskNode) -> String {
    match &node.run {
        RunKind::Shell(command) => {
            format!("command: {}", command.lines().next().unwrap_or_default())
        }
        RunKind::Agent(_) => match state.tasks.get(&node.id).map_or(0, |row| row.steps) {
            0 => task_worker(node).to_owned(),
            steps => format!("{}, step {steps}", task_worker(node)),
        },
        RunKind::Human {} => "yours".to_owned(),
    }
}

/// The title of a task, or its id where the plan has none.
pub(crate) fn title_of(state: &SessionState, task: usize) -> &str {
    let node = state.plan.current.as_ref().and_then(|revision| revision.plan.tasks.get(task));
    match node {
        Some(node) if !node.description.trim().is_empty() => &node.description,
        _ => state.tasks.id(task).as_str(),
    }
}

/// What is left of the longest path, in minutes, where all its tasks say how long they take.
pub(super) fn longest_path_left(state: &SessionState, now: Timestamp) -> Option<u64> {
    let revision = state.plan.current.as_ref()?;
    let left = |id| {
        let task = state.tasks.position(id)?;
        let planned = u64::from(revision.plan.tasks.get(task)?.duration_minutes?) * 60_000;
        let row = state.tasks.row(task);
        Some(match row.status {
            TaskStatus::Pending => planned,
            TaskStatus::Running | TaskStatus::Yours => {
                planned.saturating_sub(row.elapsed_ms(now).unwrap_or(0))
            }
            TaskStatus::Done | TaskStatus::Failed | TaskStatus::Skipped(_) => 0,
        })
    };
    let ms: u64 = revision.facts.critical_path.iter().map(left).sum::<Option<u64>>()?;
    Some(ms.div_ceil(60_000))
}
