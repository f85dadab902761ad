//! The text of each fact.

use std::collections::{BTreeMap, BTreeSet};

use jiff::ToSpan;
use jiff::civil::Date;

use super::changes::DraftComparison;
use super::day_span::day_change_text;
use super::rows::PlanTextRow;
use planwright_drafting::own_hours::{describe_hours_briefly, describe_weekly_hours};
use planwright_model::{
    FactReading, MicroDollars, RunKind, TaskId, TaskNode, WeeklyHours, agent_title,
};
use planwright_state::{PlanRevision, SessionState, TaskStatus};
use planwright_text::dates::{format_date, format_date_range};
use planwright_text::{clean_line, units};

/// How many of the tasks that start are named.
const NAMED_STARTS: usize = 3;
/// The most tasks of the longest path that are all named.
const NAMED_PATH: usize = 6;

/// `27 h in all, at most 6 h a week: Tue and Thu 19:00 – 20:30, Sat 10:00 – 13:00`.
pub(super) fn own_time_text(state: &SessionState, minutes: u64) -> String {
    let hours = weekly_text(state, describe_weekly_hours);
    format!("{} in all{hours}", units::format_planned(minutes))
}

/// `27 h, at most 6 h a week: Tue and Thu evening, Sat morning`, and without the hours.
pub(super) fn shorter_own_time(state: &SessionState, minutes: u64) -> Vec<String> {
    let time = units::format_planned(minutes);
    shorter_hours(state).into_iter().map(|hours| format!("{time}{hours}")).collect()
}

/// The hours of a week in fewer and fewer words.
fn shorter_hours(state: &SessionState) -> [String; 3] {
    let briefly = weekly_text(state, describe_hours_briefly);
    [briefly, weekly_text(state, |_| String::new()), shortest_week_text(state)]
}

/// `, at most 5 h a week, 9 h in one`.
fn shortest_week_text(state: &SessionState) -> String {
    let Some(minutes) = weekly_limit(state) else { return String::new() };
    let fuller = fullest_week(state).filter(|(_, most)| *most > minutes);
    let fuller = fuller.map(|(_, most)| format!(", {} in one", units::format_planned(most)));
    format!(", at most {} a week{}", units::format_planned(minutes), fuller.unwrap_or_default())
}

/// The hours for all plans together may be fewer than what was said about this one.
fn weekly_limit(state: &SessionState) -> Option<u64> {
    let limits = &state.planning.context.as_deref()?.constraints;
    let said = limits.weekly_minutes.into_iter().chain(limits.all_plans_weekly_minutes);
    said.min().map(u64::from)
}

/// `27 h → 28 h 30 min, at most 6 h a week: …`.
pub(super) fn changed_own_time_text(state: &SessionState, before: u64, now: u64) -> String {
    let hours = weekly_text(state, describe_weekly_hours);
    if before == now {
        return format!("{} as before{hours}", units::format_planned(now));
    }
    format!("{} → {}{hours}", units::format_planned(before), units::format_planned(now))
}

/// `27 h → 28 h 30 min, at most 6 h a week: Sat morning`.
pub(super) fn shorter_changed_own_time(state: &SessionState, before: u64, now: u64) -> Vec<String> {
    let (was, is) = (units::format_planned(before), units::format_planned(now));
    let time = if before == now { format!("{is} as before") } else { format!("{was} → {is}") };
    shorter_hours(state).into_iter().map(|hours| format!("{time}{hours}")).collect()
}

fn weekly_text(state: &SessionState, describe: fn(&WeeklyHours) -> String) -> String {
    let Some(context) = state.planning.context.as_deref() else { return String::new() };
    let most = weekly_limit(state)
        .map(|minutes| {
            let fuller = fuller_week_text(state, minutes);
            format!(", at most {} a week{fuller}", units::format_planned(minutes))
        })
        .unwrap_or_default();
    let preferred = &context.user_prefs.preferred_windows;
    let hours = if preferred.is_empty() { &context.calendar.working } else { preferred };
    match describe(hours).as_str() {
        "" => most,
        hours => format!("{most}: {hours}"),
    }
}

/// ` but 18 h in the week of 15 Mar`: days that were set may hold more than a week usually does.
fn fuller_week_text(state: &SessionState, limit: u64) -> String {
    match fullest_week(state).filter(|(_, minutes)| *minutes > limit) {
        Some((monday, minutes)) => {
            let week = monday.strftime("%-d %b");
            format!(" but {} in the week of {week}", units::format_planned(minutes))
        }
        None => String::new(),
    }
}

/// The Monday of the week with the most work of the person's, and its minutes.
fn fullest_week(state: &SessionState) -> Option<(Date, u64)> {
    let schedule = state.planning.schedule.as_deref()?;
    let mut weeks: BTreeMap<Date, u64> = BTreeMap::new();
    for block in schedule.blocks.iter().filter(|block| !is_delegated(state, &block.plan_node_id)) {
        let day = block.start.local_date();
        let monday = day.saturating_sub(i64::from(day.weekday().to_monday_zero_offset()).days());
        *weeks.entry(monday).or_default() += u64::from(block.estimated_minutes);
    }
    weeks.into_iter().max_by_key(|(monday, minutes)| (*minutes, *monday))
}

/// Whether somebody other than the person, an agent or a command does a task.
fn is_delegated(state: &SessionState, id: &TaskId) -> bool {
    let roadmap = state.planning.roadmap.as_deref();
    let node = roadmap.and_then(|roadmap| roadmap.nodes.iter().find(|node| node.id == *id));
    let tasks = state.plan.current.as_ref().map(|revision| &revision.plan.tasks);
    let task = tasks.and_then(|tasks| tasks.iter().find(|task| task.id == *id));
    node.is_some_and(|node| node.other_owner().is_some())
        || task.is_some_and(|task| !matches!(task.run, RunKind::Human {}))
}

/// `Thu 19 Nov – Sat 19 Dec, 10 days before your 6 weeks are up`.
pub(super) fn dates_text(state: &SessionState, rows: &[PlanTextRow], today: Date) -> String {
    let days: Vec<_> = rows.iter().filter_map(|row| row.days).collect();
    let first = days.iter().map(|days| days.first).min();
    let last = days.iter().map(|days| days.last).max();
    let (Some(first), Some(last)) = (first, last) else { return String::new() };
    let limit = limit_text(state, last, today);
    format!("{}{limit}{}", format_date_range(first, last, today), unplaced_text(state))
}

/// `ends Sat 19 Dec → Sun 20 Dec, 9 days before your 6 weeks are up`.
pub(super) fn moved_dates_text(
    state: &SessionState,
    rows: &[PlanTextRow],
    changes: &DraftComparison,
    today: Date,
) -> String {
    let last = rows.iter().filter_map(|row| row.days).map(|days| days.last).max();
    let Some(last) = last else { return String::new() };
    let limit = limit_text(state, last, today);
    let end = match changes.end_before {
        Some(before) if before != last => format!("ends {}", day_change_text(before, last, today)),
        Some(_) => format!("still ends {}", format_date(last, today)),
        None => format!("ends {}", format_date(last, today)),
    };
    format!("{end}{limit}{}", unplaced_text(state))
}

/// `"Weekly review" starts at 09:40 instead of 09:00, something else is there already`; empty if nothing gave way.
pub(super) fn moved_times_text(state: &SessionState) -> String {
    let planning = &state.planning;
    let (Some(roadmap), Some(schedule)) = (&planning.roadmap, &planning.schedule) else {
        return String::new();
    };
    planwright_schedule::describe_moved_times(roadmap, schedule, &[], &[]).join("; ")
}

/// How the end stands to what the person said: a deadline, or a number of weeks.
fn limit_text(state: &SessionState, last: Date, today: Date) -> String {
    let Some(context) = state.planning.context.as_deref() else { return String::new() };
    let limits = &context.constraints;
    let zone = jiff::tz::TimeZone::get(&context.calendar.tz).unwrap_or(jiff::tz::TimeZone::UTC);
    if let Some(deadline) = limits.deadline {
        let day = deadline.at.to_zoned(zone).date();
        let named = format!("your deadline, {}", format_date(day, today));
        return match distance_text(last, day) {
            Some(distance) => format!(", {distance} {named}"),
            None => format!(", on {named}"),
        };
    }
    let Some((weeks, end)) = context.stated_weeks() else { return String::new() };
    // "In March" has a last day and no number of weeks; the day of a party is not the end of what follows it.
    if !says_weeks(&state.planning.goal, weeks) {
        if !is_stated_last_day(state, end) {
            return String::new();
        }
        let named = format_date(end, today);
        return match distance_text(last, end) {
            Some(distance) => format!(", {distance} {named}, your last day"),
            None => ", your last day".to_owned(),
        };
    }
    let weeks = units::format_counted(weeks.into(), "week");
    match distance_text(last, end) {
        Some(distance) => format!(", {distance} your {weeks} are up"),
        None => format!(", on the last day of your {weeks}"),
    }
}

/// Whether the person said that this day is the last one.
fn is_stated_last_day(state: &SessionState, end: Date) -> bool {
    state.planning.facts.active().any(|fact| match &fact.reading {
        Some(FactReading::Deadline { on }) => *on == end,
        Some(FactReading::Window { to, .. }) => *to == end,
        _ => false,
    })
}

/// Whether a goal gives its time as so many weeks.
fn says_weeks(goal: &str, weeks: u16) -> bool {
    let goal = goal.to_lowercase();
    let names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let name = weeks.checked_sub(1).and_then(|at| names.get(usize::from(at)));
    let said = |number: &str| {
        ["week", "-week"].iter().any(|unit| {
            goal.contains(&format!("{number} {unit}")) || goal.contains(&format!("{number}{unit}"))
        })
    };
    said(&weeks.to_string()) || name.is_some_and(|name| said(name))
}

/// `10 days before`, `3 days after`; nothing on the day itself.
fn distance_text(last: Date, limit: Date) -> Option<String> {
    let days = last.until(limit).map_or(0, |span| span.get_days());
    let count = units::format_counted(days.unsigned_abs() as usize, "day");
    match days {
        0 => None,
        days if days > 0 => Some(format!("{count} before")),
        _ => Some(format!("{count} after")),
    }
}

fn unplaced_text(state: &SessionState) -> String {
    let unplaced = state.planning.schedule.as_ref().map_or(0, |schedule| schedule.unplaced.len());
    match unplaced {
        0 => String::new(),
        count => format!("; {} fit nowhere", units::format_counted(count, "task")),
    }
}

/// What runs without the person: `1 command and 2 tasks by the agent, all on this computer`; empty if nothing does.
pub(super) fn runs_text(state: &SessionState, rows: &[PlanTextRow]) -> String {
    let commands = rows.iter().filter(|row| row.command.is_some()).count();
    let agents = rows.iter().filter(|row| is_by_built_in_agent(row)).count();
    let mut parts = Vec::new();
    if commands > 0 {
        parts.push(units::format_counted(commands, "command"));
    }
    if agents > 0 {
        parts.push(format!("{} by the agent", units::format_counted(agents, "task")));
    }
    parts.extend(own_agent_parts(state, rows));
    if parts.is_empty() {
        return String::new();
    }
    let tasks = state.plan.current.as_ref().map(|revision| revision.plan.tasks.as_slice());
    let cost = tasks.map(|tasks| cost_text(tasks, state)).filter(|text| !text.is_empty());
    let cost = cost.map(|text| format!(" · {text}")).unwrap_or_default();
    format!("{}, {}{cost}", parts.join(" and "), places_text(state, false))
}

/// `3 on build, 1 on this computer`: where commands run that are not done yet; `all on this computer` where none runs
/// elsewhere.
fn places_text(state: &SessionState, only_commands: bool) -> String {
    let tasks = state.plan.current.iter().flat_map(|revision| &revision.plan.tasks);
    let is_left = |id| state.tasks.get(id).is_none_or(|task| task.status != TaskStatus::Done);
    let mut elsewhere: BTreeMap<&str, usize> = BTreeMap::new();
    let mut here = 0;
    for task in tasks.filter(|task| is_left(&task.id)) {
        match (&task.run, task.options.executor.as_str()) {
            (RunKind::Shell(_), "") => here += 1,
            (RunKind::Shell(_), name) => *elsewhere.entry(name).or_default() += 1,
            (RunKind::Agent(_), _) if !only_commands => here += 1,
            _ => {}
        }
    }
    if elsewhere.is_empty() {
        return "all on this computer".to_owned();
    }
    let parts = elsewhere.iter().map(|(name, count)| format!("{count} on {}", clean_line(name)));
    let here = (here > 0).then(|| format!("{here} on this computer"));
    parts.chain(here).collect::<Vec<_>>().join(", ")
}

/// ` with sh -euc`: the shells that commands are given to, where they are stated.
fn shells_text(state: &SessionState) -> String {
    let tasks = state.plan.current.iter().flat_map(|revision| &revision.plan.tasks);
    let stated = tasks.map(|task| task.shell.join(" ")).filter(|shell| !shell.is_empty());
    let shells: BTreeSet<String> = stated.map(|shell| clean_line(&shell).into_owned()).collect();
    match shells.len() {
        0 => String::new(),
        _ => format!(" with {}", shells.into_iter().collect::<Vec<_>>().join(" and ")),
    }
}

/// `4 commands, all on this computer`; those of tasks that are done do not run again.
pub(super) fn commands_text(state: &SessionState, rows: &[PlanTextRow]) -> String {
    let is_done = |row: &&PlanTextRow| {
        state.tasks.get(&row.id).is_some_and(|task| task.status == TaskStatus::Done)
    };
    let commands = || rows.iter().filter(|row| row.command.is_some());
    let done = commands().filter(is_done).count();
    let left = commands().count() - done;
    let shells = shells_text(state);
    let place = match left {
        0 => return String::new(),
        1 => match places_text(state, true).strip_prefix("1 on ") {
            Some(place) => format!("1 command{shells} on {place}"),
            None => format!("1 command{shells} on this computer"),
        },
        count => format!(
            "{}{shells}, {}",
            units::format_counted(count, "command"),
            places_text(state, true)
        ),
    };
    match done {
        0 => place,
        1 => format!("{place}; 1 is done and does not run again"),
        count => format!("{place}; {count} are done and do not run again"),
    }
}

/// `4 tasks by the built-in agent; 2 by Claude Code, asks before commands, api.anthropic.com only`.
pub(super) fn agents_text(state: &SessionState, rows: &[PlanTextRow]) -> String {
    let built_in = rows.iter().filter(|row| is_by_built_in_agent(row)).count();
    let mut parts = Vec::new();
    if built_in > 0 {
        parts.push(format!("{} by the built-in agent", units::format_counted(built_in, "task")));
    }
    parts.extend(own_agent_parts(state, rows));
    let picks = rows.iter().filter(|row| row.is_pick).count();
    if picks > 0 {
        parts.push(format!("you pick the result of {}", units::format_counted(picks, "task")));
    }
    parts.join("; ")
}

fn is_by_built_in_agent(row: &PlanTextRow) -> bool {
    row.who == "agent" && row.own_agent.is_none()
}

/// What each of the person's own agents does, whether it asks, and what it may reach.
fn own_agent_parts(state: &SessionState, rows: &[PlanTextRow]) -> Vec<String> {
    let mut tasks: BTreeMap<&str, usize> = BTreeMap::new();
    for name in rows.iter().filter_map(|row| row.own_agent.as_deref()) {
        *tasks.entry(name).or_default() += 1;
    }
    let describe = |(name, count): (&str, usize)| {
        let tasks = units::format_counted(count, "task");
        let Some(agent) = state.session.agents.get(name) else {
            return format!(
                "{tasks} by {}, which is not set up here",
                clean_line(agent_title(name))
            );
        };
        let title = clean_line(agent.title()).into_owned();
        let habit = agent.asks.describe();
        let problem = agent.problem.as_ref().map(|problem| format!(", {}", clean_line(problem)));
        let reach = problem.unwrap_or_else(|| format!(", reaches {}", agent.describe_network()));
        format!("{tasks} by {title}, {habit}{}", clean_line(&reach))
    };
    tasks.into_iter().map(describe).collect()
}

/// The tasks that start once the plan is approved: those that wait for nothing and are not done.
pub(crate) fn first_tasks<'s>(
    state: &'s SessionState,
    revision: &'s PlanRevision,
) -> Vec<&'s TaskNode> {
    let tasks = &revision.plan.tasks;
    if state.tasks.len() == tasks.len() {
        return (0..tasks.len())
            .filter(|task| state.tasks.is_ready(*task))
            .filter_map(|task| tasks.get(task))
            .collect();
    }
    let roots = &revision.facts.root_tasks;
    roots.iter().filter_map(|id| tasks.iter().find(|task| task.id == *id)).collect()
}

/// `3 at once: Sort the open issues, Measure the baseline, and your own Renew the signing key`; of more, three are
/// named and the rest is counted.
pub(super) fn starts_text(state: &SessionState, revision: &PlanRevision) -> String {
    starts_naming(state, revision, NAMED_STARTS)
}

/// The same with fewer names.
pub(super) fn shorter_starts(state: &SessionState, revision: &PlanRevision) -> Vec<String> {
    let fewer = (1..NAMED_STARTS).rev().map(|names| starts_naming(state, revision, names));
    let count = units::format_counted(first_tasks(state, revision).len(), "task");
    fewer.chain([count]).collect()
}

fn starts_naming(state: &SessionState, revision: &PlanRevision, names: usize) -> String {
    let first = first_tasks(state, revision);
    let named: Vec<String> = first
        .iter()
        .take(names)
        .map(|task| {
            let title = clean_line(&task.description);
            match task.run {
                RunKind::Human {} => format!("your own {title}"),
                _ => title.into_owned(),
            }
        })
        .collect();
    let rest = first.len() - named.len();
    let jobs = state.run.jobs as usize;
    let lead = match first.len() {
        count if jobs > 0 && jobs < count => format!("{jobs} of {count} at once"),
        count if rest > 0 => format!("{count} can start"),
        count => format!("{count} at once"),
    };
    match named.as_slice() {
        [] => String::new(),
        [only] if rest == 0 => only.clone(),
        _ if rest > 0 => format!("{lead}: {} and {rest} more", named.join(", ")),
        [others @ .., last] => format!("{lead}: {} and {last}", others.join(", ")),
    }
}

/// `24 – 38 min; the longest path is Sort, Freeze, Port`.
pub(super) fn run_time_text(revision: &PlanRevision) -> String {
    match longest_path(revision) {
        (_, names) if names.is_empty() => String::new(),
        (time, names) if names.len() > NAMED_PATH => match names.as_slice() {
            [first, .., last] => {
                let tasks = units::format_counted(names.len(), "task");
                format!("{time}the longest path has {tasks}, from {first} to {last}")
            }
            _ => time,
        },
        (time, names) => format!("{time}the longest path is {}", names.join(", ")),
    }
}

/// `24 – 38 min; the longest path is Sort to Publish, 5 tasks`, and without its names.
pub(super) fn shorter_run_time(revision: &PlanRevision) -> Vec<String> {
    let (time, names) = longest_path(revision);
    let [first, .., last] = names.as_slice() else { return Vec::new() };
    let tasks = units::format_counted(names.len(), "task");
    vec![
        format!("{time}the longest path goes from {first} to {last}"),
        format!("{time}the longest path has {tasks}"),
    ]
}

/// How long the plan takes, ready to be followed by its longest path, and the tasks of that path.
fn longest_path(revision: &PlanRevision) -> (String, Vec<String>) {
    let tasks = &revision.plan.tasks;
    let path = &revision.facts.critical_path;
    let on_path: Vec<&TaskNode> =
        path.iter().filter_map(|id| tasks.iter().find(|task| task.id == *id)).collect();
    let minutes = |tasks: &mut dyn Iterator<Item = &TaskNode>| {
        tasks.map(|task| task.duration_minutes.map(u64::from)).sum::<Option<u64>>()
    };
    let shortest = minutes(&mut on_path.iter().copied()).filter(|minutes| *minutes > 0);
    let longest = minutes(&mut tasks.iter());
    let time = match (shortest, longest) {
        (Some(low), Some(high)) => format!("{}; ", units::format_planned_range(low, high)),
        _ => String::new(),
    };
    (time, on_path.iter().map(|task| clean_line(&task.description).into_owned()).collect())
}

/// What is assumed or listed otherwise, with fewer and fewer of it named.
pub(super) fn shorter_lists(items: &[String]) -> Vec<String> {
    let named =
        |count: usize| format!("{} and {} more", items[..count].join(", "), items.len() - count);
    (1..items.len()).rev().map(named).collect()
}

/// `Sure: matches the launch template, every date fits.`, and the first reason alone.
pub(super) fn shorter_confidence(text: &str) -> Vec<String> {
    let Some((first, _)) = text.split_once(", and every date fits") else { return Vec::new() };
    vec![format!("{first}, every date fits."), format!("{first}.")]
}

/// What runs unasked, and how often the person is asked, without what was set by hand.
pub(super) fn shorter_policy(text: &str) -> Vec<String> {
    let brief = text.replace("commands that are not planned", "unplanned commands");
    let parts: Vec<String> = brief.split("; ").map(str::to_owned).collect();
    let shorter = (1..parts.len()).rev().map(|count| parts[..count].join("; "));
    std::iter::once(brief.clone()).chain(shorter).collect()
}

/// Tokens of agents at the price that was paid in this session so far; empty where no agent works.
pub(super) fn cost_text(tasks: &[TaskNode], state: &SessionState) -> String {
    let agents = tasks.iter().filter(|task| matches!(task.run, RunKind::Agent(_)));
    let low: u64 = agents.map(|task| task.estimated_tokens).sum();
    if low == 0 {
        return String::new();
    }
    // Every task may be tried twice.
    let high = low.saturating_mul(2);
    let spent = state.totals;
    let priced = spent.tokens.saturating_sub(spent.unpriced_tokens);
    if priced == 0 || spent.cost.0 == 0 {
        let tokens = units::format_range(
            &units::format_whole_tokens(low),
            &units::format_whole_tokens(high),
        );
        return format!("{tokens} tokens; the price is known after the first call");
    }
    let at = |tokens: u64| {
        let micros = u128::from(tokens) * u128::from(spent.cost.0) / u128::from(priced);
        MicroDollars(u64::try_from(micros).unwrap_or(u64::MAX)).to_string()
    };
    format!("{}, at the price paid so far", units::format_range(&at(low), &at(high)))
}

/// What was put right when the plan was read.
pub(super) fn corrections_text(revision: &PlanRevision) -> String {
    let notes: Vec<String> = revision
        .normalization
        .iter()
        .map(|note| {
            let task = note.task_id.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
            clean_line(&format!("{task}{}", note.detail)).into_owned()
        })
        .collect();
    notes.join("; ")
}
