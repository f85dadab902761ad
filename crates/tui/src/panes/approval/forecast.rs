//! What approving a plan would set in motion, from the plan and from what was paid so far.

use std::collections::BTreeMap;

use planwright_model::{MicroDollars, RunKind, TaskNode};
use planwright_state::{PlanRevision, SessionState};
use planwright_text::units;

/// Labelled figures.
pub(super) fn forecast_rows(
    revision: &PlanRevision,
    state: &SessionState,
) -> Vec<(&'static str, String)> {
    let mut rows = vec![("tasks", task_kinds_text(revision))];
    rows.push(("critical path", critical_path_text(revision)));
    if let Some(range) = time_range(revision) {
        rows.push(("time", range));
    } else if let Some(minutes) = total_minutes(&revision.plan.tasks) {
        rows.push(("work", format!("{} in all", units::format_planned(minutes))));
    }
    rows.extend(token_range(&revision.plan.tasks).map(|range| ("tokens", token_text(range))));
    rows.extend(cost_text(&revision.plan.tasks, state).map(|text| ("cost", text)));
    rows.push(("will run", command_count_text(&revision.plan.tasks)));
    rows.extend(tools_text(&revision.plan.tasks).map(|text| ("will ask for", text)));
    let spent = state.totals;
    if spent.tokens > 0 {
        rows.push((
            "spent",
            format!("{} tokens, {}", units::format_whole_tokens(spent.tokens), spent.cost),
        ));
    }
    rows
}

fn count_tasks(tasks: &[TaskNode], is: impl Fn(&RunKind) -> bool) -> usize {
    tasks.iter().filter(|task| is(&task.run)).count()
}

fn task_kinds_text(revision: &PlanRevision) -> String {
    let tasks = &revision.plan.tasks;
    let parts = [
        (count_tasks(tasks, |run| matches!(run, RunKind::Agent {})), "agent"),
        (count_tasks(tasks, |run| matches!(run, RunKind::Shell(_))), "shell"),
        (count_tasks(tasks, |run| matches!(run, RunKind::Human {})), "yours"),
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

fn critical_path_text(revision: &PlanRevision) -> String {
    let path = &revision.facts.critical_path;
    let names: Vec<&str> = path.iter().map(planwright_model::TaskId::as_str).collect();
    let on_path = |task: &&TaskNode| path.contains(&task.id);
    let tasks: Vec<TaskNode> = revision.plan.tasks.iter().filter(on_path).cloned().collect();
    let length =
        total_minutes(&tasks).map(|minutes| format!(", {}", units::format_planned(minutes)));
    let word = if path.len() == 1 { "task" } else { "tasks" };
    format!("{} {word}{}: {}", path.len(), length.unwrap_or_default(), names.join(" › "))
}

/// From all that can run at once to one after the other; a plan that waits for people has a schedule instead.
fn time_range(revision: &PlanRevision) -> Option<String> {
    let tasks = &revision.plan.tasks;
    let own = count_tasks(tasks, |run| matches!(run, RunKind::Human {}));
    let path = &revision.facts.critical_path;
    let on_path: Vec<TaskNode> =
        tasks.iter().filter(|task| path.contains(&task.id)).cloned().collect();
    let range = units::format_planned_range(total_minutes(&on_path)?, total_minutes(tasks)?);
    (own < tasks.len()).then(|| format!("{range}, by how many run at once"))
}

/// What agents may use: what the plan says, and as much again where every one of them is tried twice.
fn token_range(tasks: &[TaskNode]) -> Option<(u64, u64)> {
    let agents = tasks.iter().filter(|task| matches!(task.run, RunKind::Agent {}));
    let low: u64 = agents.map(|task| task.estimated_tokens).sum();
    (low > 0).then(|| (low, low.saturating_mul(2)))
}

fn token_text((low, high): (u64, u64)) -> String {
    let (low, high) = (units::format_whole_tokens(low), units::format_whole_tokens(high));
    format!("{low} to {high}, by the estimates of the plan")
}

/// Tokens at the price that was paid in this session so far.
fn cost_text(tasks: &[TaskNode], state: &SessionState) -> Option<String> {
    let (low, high) = token_range(tasks)?;
    let spent = state.totals;
    let priced = spent.tokens.saturating_sub(spent.unpriced_tokens);
    if priced == 0 || spent.cost.0 == 0 {
        return Some("known after the first call; the session asks at its cap".to_owned());
    }
    let at = |tokens: u64| {
        let micros = u128::from(tokens) * u128::from(spent.cost.0) / u128::from(priced);
        MicroDollars(u64::try_from(micros).unwrap_or(u64::MAX))
    };
    Some(format!("{} to {} at the price paid so far", at(low), at(high)))
}

/// The tools that tasks name, those of most tasks first.
fn tools_text(tasks: &[TaskNode]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in tasks.iter().flat_map(|task| &task.tools) {
        *counts.entry(tool.as_str()).or_default() += 1;
    }
    let mut all: Vec<(&str, usize)> = counts.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let said: Vec<String> = all
        .iter()
        .map(|(tool, count)| format!("{tool} {}", units::format_counted(*count, "task")))
        .collect();
    (!said.is_empty()).then(|| said.join(" · "))
}

/// The planned minutes of tasks that all say how long they take.
fn total_minutes(tasks: &[TaskNode]) -> Option<u64> {
    let minutes = tasks.iter().map(|task| task.duration_minutes.map(u64::from));
    minutes.sum::<Option<u64>>().filter(|minutes| *minutes > 0)
}

fn command_count_text(tasks: &[TaskNode]) -> String {
    match count_tasks(tasks, |run| matches!(run, RunKind::Shell(_))) {
        0 => "no command".to_owned(),
        1 => "1 command, shown below".to_owned(),
        commands => format!("{commands} commands, all shown below"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;

    #[test]
    fn tokens_and_cost_are_ranges_at_the_price_paid() {
        let mut state = Fixture::release().state();
        let revision = state.plan.current.clone().unwrap();
        let row = |state: &SessionState, label: &str| {
            let found =
                forecast_rows(&revision, state).into_iter().find(|(name, _)| *name == label);
            found.map(|(_, text)| text)
        };
        let agents =
            count_tasks(&revision.plan.tasks, |run| matches!(run, RunKind::Agent {})) as u64;
        let (low, high) = token_range(&revision.plan.tasks).unwrap();
        assert_eq!((low, high), (agents * 500, agents * 1_000));
        assert_eq!(row(&state, "time").unwrap(), "24 to 51 min, by how many run at once");
        assert!(row(&state, "cost").unwrap().starts_with("known after the first call"));
        (state.totals.tokens, state.totals.cost) = (1_000, MicroDollars(20_000));
        assert_eq!(row(&state, "cost").unwrap(), "$0.06 to $0.12 at the price paid so far");
    }
}
