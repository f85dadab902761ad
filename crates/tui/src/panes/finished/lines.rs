//! The lines of the card, as text with roles.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::panes::files::EditSums;
use crate::panes::graph::{task_worker, title_of};
use crate::panes::output::FailureTails;
use crate::theme::ThemeRole;
use crate::widgets::format_counted;
use planwright_model::{Actor, MicroDollars, RequestKind, TaskId};
use planwright_state::timeline::Timeline;
use planwright_state::{SessionState, SkipRoots, TaskStatus, TaskWorktree};
use planwright_text::{clean_line, display_width, pad_right, truncate_end, units};

/// Columns of a label.
const LABEL: usize = 13;
/// How many failures and how many long tasks are listed.
const MOST_FAILURES: usize = 5;
const MOST_LONGEST: usize = 5;
/// Cells of the longest bar.
const BAR: u64 = 25;

/// Pieces of a line with their roles.
type FinishedLine = Vec<(String, ThemeRole)>;

/// What the lines are made from.
#[derive(Clone, Copy)]
pub(crate) struct FinishedSource<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) timeline: &'a Timeline,
    pub(crate) tails: &'a FailureTails,
    pub(crate) skips: &'a SkipRoots,
    /// What the session may cost before it asks.
    pub(crate) budget: MicroDollars,
    /// What agents wrote into the workspace itself.
    pub(crate) edits: Option<EditSums>,
}

/// What became of the tasks, in a line.
pub(crate) fn finished_heading(state: &SessionState) -> String {
    let counts = state.tasks.work_counts();
    let mut text = format!("finished: {} of {} done", counts.done, counts.total());
    for (count, word) in [(counts.failed, "failed"), (counts.skipped, "skipped")] {
        if count > 0 {
            text = format!("{text}, {count} {word}");
        }
    }
    text
}

/// All lines for so many columns.
pub(crate) fn finished_lines(source: FinishedSource<'_>, width: usize) -> Vec<FinishedLine> {
    let mut lines = Vec::new();
    push_failures(&mut lines, source, width);
    let state = source.state;
    push_time(&mut lines, &time_text(state), width);
    push_fact(&mut lines, "Cost", &cost_text(state, source.budget));
    push_fact(&mut lines, "You", &person_text(state));
    push_fact(&mut lines, "Files", &files_text(state, source.edits));
    push_longest(&mut lines, state, width);
    lines
}

/// Between what a run took and what was planned for it.
const PLANNED: &str = "      planned ";

fn push_fact(lines: &mut Vec<FinishedLine>, label: &str, text: &str) {
    if !text.is_empty() {
        let label = pad_right(label, LABEL).into_owned();
        lines.push(vec![(label, ThemeRole::Dim), (text.to_owned(), ThemeRole::Text)]);
    }
}

/// The time beside what was planned; below it where one line is too short for both.
fn push_time(lines: &mut Vec<FinishedLine>, text: &str, width: usize) {
    match text.split_once(PLANNED) {
        Some((took, planned)) if display_width(text) + LABEL > width => {
            push_fact(lines, "Time", took);
            push_fact(lines, "", &format!("planned {planned}"));
        }
        _ => push_fact(lines, "Time", text),
    }
}

/// What agents changed in the workspace, and what they did that is not in it: `3 changed, +96 -141, by 2 tasks`.
fn files_text(state: &SessionState, edits: Option<EditSums>) -> String {
    let has_changes = |(_, copy): &(&TaskId, &TaskWorktree)| {
        copy.proposal.as_ref().is_some_and(|proposal| !proposal.files.is_empty())
    };
    let (applied, others): (Vec<_>, Vec<_>) =
        state.worktrees.iter().filter(has_changes).partition(|(_, copy)| copy.is_applied());
    let proposals = applied.iter().filter_map(|(_, copy)| copy.proposal.as_ref());
    let files: Vec<_> = proposals.flat_map(|proposal| &proposal.files).collect();
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let applied = EditSums {
        files: paths.len(),
        added: files.iter().map(|file| file.added).sum(),
        removed: files.iter().map(|file| file.removed).sum(),
        tasks: applied.len(),
    };
    // Agents with copies of their own wrote there, and what counts is what was applied.
    let sums =
        if state.worktrees.iter().next().is_none() { edits.unwrap_or_default() } else { applied };
    let mut parts = Vec::new();
    if sums.files > 0 {
        let EditSums { files, added, removed, tasks } = sums;
        let tasks = format_counted(tasks, "task");
        parts.push(format!("{files} changed, +{added} -{removed}, by {tasks}"));
    }
    if !others.is_empty() {
        parts.push(format!(
            "the changes of {} are not applied",
            format_counted(others.len(), "task")
        ));
    }
    parts.join("; ")
}

fn push_failures(lines: &mut Vec<FinishedLine>, source: FinishedSource<'_>, width: usize) {
    let state = source.state;
    if state.tasks.status_counts().failed == 0 {
        return;
    }
    let failed: Vec<usize> = (0..state.tasks.len())
        .filter(|task| state.tasks.row(*task).status == TaskStatus::Failed)
        .collect();
    let room = width.saturating_sub(LABEL).max(8);
    for (index, task) in failed.iter().take(MOST_FAILURES).enumerate() {
        let label = if index == 0 { "Failed" } else { "" };
        let cause = source.tails.cause_with_exit(state.tasks.id(*task), state, source.timeline);
        let text = clean_line(&format!("✗ {}: {cause}", title_of(state, *task))).into_owned();
        // Several failures get a line each, so that what can be done next stays in sight.
        let most = if failed.len() <= 3 { 2 } else { 1 };
        for (at, part) in cause_lines(&text, room, most).into_iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let label = pad_right(label, LABEL).into_owned();
            lines.push(vec![(label, ThemeRole::Dim), (part, ThemeRole::Failed)]);
        }
        let skipped = source.skips.skipped_because_of(*task);
        if let Some(first) = skipped.first() {
            let more = match skipped.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let text = format!(
                "» {} skipped because of it: {}{more}",
                skipped.len(),
                title_of(state, *first)
            );
            let text = truncate_end(&clean_line(&text), room).into_owned();
            lines.push(vec![(" ".repeat(LABEL), ThemeRole::Dim), (text, ThemeRole::Skipped)]);
        }
    }
    if failed.len() > MOST_FAILURES {
        let text = format!("and {} more", failed.len() - MOST_FAILURES);
        lines.push(vec![(" ".repeat(LABEL), ThemeRole::Dim), (text, ThemeRole::Dim)]);
    }
}

fn time_text(state: &SessionState) -> String {
    let (Some(from), Some(to)) = (state.run.started_at, state.run.finished_at) else {
        return String::new();
    };
    let whole = millis_between(from, to);
    let split = split_time(whole, state.run.worked_ms(to), state.run.away_ms);
    match planned_text(state) {
        Some(planned) => format!("{split}{PLANNED}{planned}"),
        None => split,
    }
}

/// What a run took and what it consists of. The parts add up as they are shown: they are cut to the unit of the whole,
/// except for one that is shorter than it, which would be nothing then.
fn split_time(whole: u64, worked: u64, away: u64) -> String {
    const MINUTE: u64 = 60_000;
    let unit = if whole >= 10 * MINUTE { MINUTE } else { 1_000 };
    let cut = |ms: u64| ms - ms % unit;
    let show = |ms| units::format_elapsed(Duration::from_millis(ms));
    let (away, worked) = (away.min(whole), worked.min(whole));
    let is_short = |ms: u64| (1_000..unit).contains(&ms);
    let (away, worked, waited) = if is_short(away) || is_short(worked) {
        let keep = |ms: u64| if is_short(ms) { ms - ms % 1_000 } else { cut(ms) };
        (keep(away), keep(worked), keep(whole.saturating_sub(away + worked)))
    } else {
        (cut(away), cut(worked), cut(whole).saturating_sub(cut(away) + cut(worked)))
    };
    let mut parts = vec![format!("{} of work", show(worked))];
    parts.extend((waited > 0).then(|| format!("{} waiting for you", show(waited))));
    parts.extend((away > 0).then(|| format!("stopped for {}", show(away))));
    match &parts[..] {
        [_] => show(whole),
        parts => format!("{}: {}", show(cut(whole)), parts.join(", ")),
    }
}

/// From all that can run at once to one after the other, where every task says how long it takes.
fn planned_text(state: &SessionState) -> Option<String> {
    let revision = state.plan.current.as_ref()?;
    let minutes = |task: usize| revision.plan.tasks.get(task)?.duration_minutes.map(u64::from);
    let all: u64 = (0..state.tasks.len()).map(minutes).sum::<Option<u64>>()?;
    let path = revision.facts.critical_path.iter();
    let longest: u64 = path.map(|id| minutes(state.tasks.position(id)?)).sum::<Option<u64>>()?;
    (all > 0).then(|| units::format_planned_range(longest, all))
}

fn cost_text(state: &SessionState, budget: MicroDollars) -> String {
    let spent = state.totals;
    if spent.tokens == 0 && spent.cost.0 == 0 {
        return String::new();
    }
    let of = if budget.0 > 0 { format!(" of {budget}") } else { String::new() };
    format!("{}{of}, {} tokens", spent.cost, units::format_whole_tokens(spent.tokens))
}

/// What the person did: questions answered, tasks of their own.
fn person_text(state: &SessionState) -> String {
    let answered = state.requests.answered.iter().filter(|answered| {
        answered.by == Actor::Person && !matches!(answered.kind, RequestKind::FinalPlan { .. })
    });
    let did = state
        .tasks
        .iter()
        .filter(|(_, row)| row.status == TaskStatus::Done && row.done_by == Some(Actor::Person));
    let mut parts = Vec::new();
    match answered.count() {
        0 => {}
        count => parts.push(format!("answered {}", format_counted(count, "question"))),
    }
    match did.count() {
        0 => {}
        count => parts.push(format!("did {}", format_counted(count, "task"))),
    }
    parts.join(", ")
}

fn push_longest(lines: &mut Vec<FinishedLine>, state: &SessionState, width: usize) {
    let end = state.run.finished_at.or(state.at).unwrap_or_default();
    let mut times: Vec<(u64, usize)> = (0..state.tasks.len())
        .filter(|task| !state.tasks.is_human(*task))
        .filter_map(|task| Some((state.tasks.row(task).elapsed_ms(end)?, task)))
        .collect();
    times.sort_by_key(|(ms, task)| (std::cmp::Reverse(*ms), *task));
    times.truncate(MOST_LONGEST);
    let Some((most, _)) = times.first().copied().filter(|_| times.len() > 1) else { return };
    let widest = times.iter().map(|(_, task)| display_width(title_of(state, *task))).max();
    let title = widest.unwrap_or(0).clamp(8, (width / 3).max(8));
    lines.push(Vec::new());
    let head = format!("{:<1$}{2:>10}", "What took longest", title + 17, "took");
    let plan = state.plan.current.as_ref();
    let planned_minutes = |task: usize| {
        let node = plan.and_then(|revision| revision.plan.tasks.get(task))?;
        node.duration_minutes.filter(|minutes| *minutes > 0)
    };
    let is_planned = times.iter().any(|(_, task)| planned_minutes(*task).is_some());
    let planned_head = if is_planned { "   planned" } else { "" };
    lines.push(vec![(format!("{head}{planned_head}"), ThemeRole::Dim)]);
    // A bar that is cut would lie about its length: the longest one has what the columns leave.
    let columns = 2 + title + 2 + 12 + 1 + 10 + 3 + if is_planned { 10 } else { 0 };
    let longest = (width.saturating_sub(columns + 1) as u64).min(BAR);
    for (ms, task) in times {
        let node = plan.and_then(|revision| revision.plan.tasks.get(task));
        let name = clean_line(title_of(state, task)).into_owned();
        let name = pad_right(&truncate_end(&name, title), title + 2).into_owned();
        let worker = pad_right(node.map_or("", task_worker), 12).into_owned();
        let took = units::format_elapsed(Duration::from_millis(ms));
        let planned = planned_minutes(task).map(|minutes| units::format_planned(minutes.into()));
        let cells = if is_planned { 10 } else { 0 };
        let planned = pad_right(&planned.unwrap_or_default(), cells).into_owned();
        let bar = "━".repeat((ms * longest / most.max(1)).max(longest.min(1)) as usize);
        lines.push(vec![
            (format!("  {name}"), ThemeRole::Text),
            (format!("{worker} {took:>10}   {planned}"), ThemeRole::Dim),
            (bar, ThemeRole::Running),
        ]);
    }
}

fn millis_between(from: Timestamp, to: Timestamp) -> u64 {
    to.duration_since(from).as_millis().try_into().unwrap_or(0)
}

/// A cause on at most so many lines; what is left of it ends the last one.
fn cause_lines(text: &str, room: usize, most: usize) -> Vec<String> {
    let all = planwright_text::wrap_words(text, room, 0);
    let mut lines: Vec<String> = all.iter().take(most).map(ToString::to_string).collect();
    if all.len() > most
        && let Some(last) = lines.last_mut()
    {
        let rest: Vec<&str> = all[most - 1..].iter().map(AsRef::as_ref).collect();
        *last = truncate_end(&rest.join(" "), room).into_owned();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_agents_changed_are_counted_once_they_are_applied() {
        use crate::tests::journals::recorded_request;
        let waiting = recorded_request("change_review", 2).state();
        assert_eq!(files_text(&waiting, None), "the changes of 1 task are not applied");
        let applied = recorded_request("applied_check", 3).state();
        let text = files_text(&applied, None);
        assert!(text.contains(" changed, +") && text.contains(", by "), "{text}");
        assert_eq!(files_text(&SessionState::default(), None), "");
    }

    #[test]
    fn the_parts_of_the_time_add_up_and_absence_is_no_waiting() {
        let minutes = |minutes: u64, seconds: u64| (minutes * 60 + seconds) * 1_000;
        let text = split_time(minutes(66, 20), minutes(25, 30), 0);
        assert_eq!(text, "1 h 6 min: 25 min of work, 41 min waiting for you");
        let text = split_time(minutes(66, 20), minutes(9, 41), minutes(50, 0));
        assert_eq!(text, "1 h 6 min: 9 min of work, 7 min waiting for you, stopped for 50 min");
        let text = split_time(minutes(12, 3), minutes(0, 40), 0);
        assert_eq!(text, "12 min: 40 s of work, 11 min waiting for you");
        let text = split_time(minutes(30, 0), minutes(29, 45), 0);
        assert_eq!(text, "30 min: 29 min of work, 1 min waiting for you");
        assert_eq!(split_time(1_400, 1_400, 0), "1.4 s");
        assert_eq!(split_time(9_900, 4_100, 0), "9 s: 4 s of work, 5 s waiting for you");
    }
}
