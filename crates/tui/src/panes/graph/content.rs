//! What stands inside a box or a chip, and the line about the selected task.

use jiff::Timestamp;

use planwright_model::{RunKind, TaskNode};
use planwright_state::{SessionState, TaskRow, TaskStatus};
use planwright_text::units;

/// The time of a task: how long it has taken, or a guess before it starts.
pub(super) fn task_time(node: &TaskNode, row: &TaskRow, now: Timestamp) -> String {
    match row.status {
        TaskStatus::Pending => match node.duration_minutes {
            Some(minutes) => units::format_estimate(u64::from(minutes)),
            None => String::new(),
        },
        TaskStatus::Skipped(_) => String::new(),
        _ => row
            .elapsed_ms(now)
            .map(|ms| units::format_elapsed(std::time::Duration::from_millis(ms)))
            .unwrap_or_default(),
    }
}

/// The second line of a box: kind and title.
pub(super) fn box_title(node: &TaskNode, status: TaskStatus) -> String {
    match node.kind_glyph() {
        ' ' => node.description.clone(),
        // The status says it already.
        '@' if status == TaskStatus::Yours => node.description.clone(),
        kind => format!("{kind} {}", node.description),
    }
}

/// Facts about the selected task, most important first.
pub(super) fn task_facts(state: &SessionState, task: usize) -> Vec<String> {
    let Some(revision) = &state.plan.current else { return Vec::new() };
    let Some(node) = revision.plan.tasks.get(task) else { return Vec::new() };
    let row = state.tasks.row(task);
    let mut facts = vec![kind_text(node)];
    if let Some(failure) = row.failure.as_ref().filter(|_| row.status == TaskStatus::Failed) {
        facts.push(failure.message.clone());
    }
    if row.attempt > 1 {
        facts.push(format!("attempt {}", row.attempt));
    }
    let names = |tasks: Vec<usize>| -> String {
        let ids: Vec<&str> = tasks.iter().map(|task| state.tasks.id(*task).as_str()).collect();
        ids.join(", ")
    };
    let needs: Vec<usize> = state.tasks.dependencies(task).collect();
    if !needs.is_empty() {
        facts.push(format!("needs {}", names(needs)));
    }
    let unlocks: Vec<usize> = state.tasks.dependents(task).collect();
    if !unlocks.is_empty() {
        facts.push(format!("unlocks {}", names(unlocks)));
    }
    facts
}

fn kind_text(node: &TaskNode) -> String {
    match &node.run {
        RunKind::Agent {} if node.agent_role == planwright_model::task::DEFAULT_ROLE => {
            "agent".to_owned()
        }
        RunKind::Agent {} => format!("agent, {}", node.agent_role),
        RunKind::Shell(command) => format!("shell: {command}"),
        RunKind::Human {} => "yours".to_owned(),
    }
}
