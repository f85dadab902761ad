//! What approving a plan would set in motion, from the plan alone.

use crate::model::{RunKind, TaskNode};
use crate::state::{PlanRevision, SessionState};
use crate::text::units;

/// Labelled figures.
pub(super) fn rows(revision: &PlanRevision, state: &SessionState) -> Vec<(&'static str, String)> {
    let mut rows = vec![("tasks", kinds(revision))];
    rows.push(("critical path", critical_path(revision)));
    if let Some(minutes) = total_minutes(&revision.plan.tasks) {
        rows.push(("work", format!("{} in all", units::planned(minutes))));
    }
    rows.push(("will run", will_run(&revision.plan.tasks)));
    let spent = state.totals;
    if spent.tokens > 0 {
        rows.push((
            "spent",
            format!("{} tokens, {}", units::tokens_whole(spent.tokens), spent.cost),
        ));
    }
    rows
}

fn count(tasks: &[TaskNode], is: impl Fn(&RunKind) -> bool) -> usize {
    tasks.iter().filter(|task| is(&task.run)).count()
}

fn kinds(revision: &PlanRevision) -> String {
    let tasks = &revision.plan.tasks;
    let parts = [
        (count(tasks, |run| matches!(run, RunKind::Agent {})), "agent"),
        (count(tasks, |run| matches!(run, RunKind::Shell(_))), "shell"),
        (count(tasks, |run| matches!(run, RunKind::Human {})), "yours"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let roots = revision.facts.root_tasks.len();
    let start =
        if roots == 1 { "1 starts first".to_owned() } else { format!("{roots} start at once") };
    format!("{}: {} · {start}", tasks.len(), said.join(", "))
}

fn critical_path(revision: &PlanRevision) -> String {
    let path = &revision.facts.critical_path;
    let names: Vec<&str> = path.iter().map(crate::model::TaskId::as_str).collect();
    let on_path = |task: &&TaskNode| path.contains(&task.id);
    let tasks: Vec<TaskNode> = revision.plan.tasks.iter().filter(on_path).cloned().collect();
    let length = total_minutes(&tasks).map(|minutes| format!(", {}", units::planned(minutes)));
    let word = if path.len() == 1 { "task" } else { "tasks" };
    format!("{} {word}{}: {}", path.len(), length.unwrap_or_default(), names.join(" › "))
}

/// The planned minutes of tasks that all say how long they take.
fn total_minutes(tasks: &[TaskNode]) -> Option<u64> {
    let minutes = tasks.iter().map(|task| task.duration_minutes.map(u64::from));
    minutes.sum::<Option<u64>>().filter(|minutes| *minutes > 0)
}

fn will_run(tasks: &[TaskNode]) -> String {
    match count(tasks, |run| matches!(run, RunKind::Shell(_))) {
        0 => "no command".to_owned(),
        1 => "1 command, shown below".to_owned(),
        commands => format!("{commands} commands, all shown below"),
    }
}
