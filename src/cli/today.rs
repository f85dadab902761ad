//! `planwright today`: what is due today in all active plans, and one word for what to do about it.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde_json::json;

use super::catch_up::execute_catch_up;
use super::guard::require_person;
use super::session::{block_on, require_screen, resume_session, show_or_follow};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{App, today};
use crate::headless::PresetAnswers;
use planwright_model::catch_up::CatchUpWay;
use planwright_model::event::Command;
use planwright_model::{Actor, SessionId};
use planwright_schedule::calendar::parse_when;
use planwright_state::TaskStatus;
use planwright_store::Store;
use planwright_text::{self as text, dates, units};
use planwright_tui::TodayItem;

/// Ten years, as far as plans reach.
const LOOK_AHEAD_HOURS: i64 = 10 * 366 * 24;

#[derive(Debug, Args)]
pub(crate) struct TodayArgs {
    #[command(subcommand)]
    what: Option<TodayCommand>,
}

impl TodayArgs {
    /// Whether it shows a screen and not only lines.
    pub(super) fn opens_screen(&self) -> bool {
        matches!(self.what, Some(TodayCommand::Start { .. }))
    }
}

#[derive(Debug, Subcommand)]
enum TodayCommand {
    /// Mark a task as done
    Done {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
        /// What to remember about it
        #[arg(long)]
        note: Option<String>,
    },
    /// Skip a task; what depends on it continues without it
    Skip {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
    },
    /// Move a task to another time
    Move {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
        /// When, such as tomorrow, 14:30, fri 9:00 or +2h
        #[arg(required = true, num_args = 1.., allow_hyphen_values = true)]
        when: Vec<String>,
    },
    /// Replan late tasks; without --way, show what each way leads to
    CatchUp {
        /// The plan, if several are late
        session: Option<String>,
        /// How: move, skip, push, or replan to plan all open tasks again
        #[arg(long, value_parser = parse_way)]
        way: Option<CatchUpWay>,
        /// Go back to the dates from before the last catch-up
        #[arg(long, conflicts_with = "way")]
        undo: bool,
    },
    /// Open a task's plan and resume its run
    Start {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
    },
}

impl TodayCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Skip { .. } => "skip",
            Self::Move { .. } => "move",
            Self::CatchUp { .. } => "catch-up",
            Self::Start { .. } => "start",
        }
    }
}

pub(super) fn execute_today(shared: &SharedArgs, args: &TodayArgs) -> anyhow::Result<CliExit> {
    let Some(what) = &args.what else { return print_due(shared) };
    require_person("decide about your tasks")?;
    if let TodayCommand::CatchUp { session, way, undo } = what {
        return execute_catch_up(shared, session.as_deref(), *way, *undo);
    }
    let app = App::settings_only(shared)?;
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let (TodayCommand::Done { item, .. }
    | TodayCommand::Skip { item }
    | TodayCommand::Move { item, .. }
    | TodayCommand::Start { item }) = what
    else {
        return Ok(CliExit::Success);
    };
    let item = pick_item(&app, now, &zone, item, what)?;
    let store = app.open_store()?;
    let settle = |done: bool, note: Option<String>| Command::MarkTask {
        task: item.due.task.clone(),
        occurrence: item.due.occurrence,
        done,
        note,
        by: Actor::Person,
    };
    match what {
        TodayCommand::Done { note, .. } => {
            send_and_report(&app, &store, &item, settle(true, note.clone()), "done")
        }
        TodayCommand::Skip { .. } => {
            send_and_report(&app, &store, &item, settle(false, None), "skipped")
        }
        TodayCommand::Move { when, .. } => {
            let when = when.join(" ");
            let usual = item.due.start.to_zoned(zone.clone()).time();
            let to = parse_when(&when, &now.to_zoned(zone), usual).ok_or_else(|| {
                CliProblem::usage(format!("\"{when}\" is not a date or time"))
                    .with_remedy("write tomorrow, 14:30, fri 9:00, 2026-06-12 09:00 or +2h")
            })?;
            let block = item.due.block.clone().ok_or_else(|| {
                CliProblem::usage(format!("{} has no time to move", item.due.task))
                    .with_remedy("only plans that were made from a goal have a schedule")
            })?;
            let words = format!("moved to {}", dates::format_date_time(to.datetime(), to.date()));
            let command = Command::MoveBlock { block, to: to.timestamp() };
            send_and_report(&app, &store, &item, command, &words)
        }
        TodayCommand::CatchUp { .. } => Ok(CliExit::Success),
        TodayCommand::Start { .. } => {
            require_screen(shared)?;
            app.check_screen(shared)?;
            block_on(async {
                let handle = resume_session(shared, &app, &store, &item.session, None).await?;
                show_or_follow(shared, &app, &store, handle, PresetAnswers::default().into()).await
            })
        }
    }
}

fn parse_way(text: &str) -> Result<CatchUpWay, String> {
    let named = CatchUpWay::ALL.into_iter().find(|way| way.name() == text.trim().to_lowercase());
    named.ok_or_else(|| "write move, skip, push or replan".to_owned())
}

/// Prints what is due.
pub(super) fn print_due(shared: &SharedArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let due = DueList::load(&app, now, &zone)?;
    print_items(shared, &due, &now.to_zoned(zone))
}

/// What is due, by plan, and what comes after it.
#[derive(Default)]
struct DueList {
    items: Vec<TodayItem>,
    next: Option<TodayItem>,
}

impl DueList {
    fn load(app: &App, now: Timestamp, zone: &TimeZone) -> anyhow::Result<Self> {
        let Some(store) = app.read_store()? else { return Ok(Self::default()) };
        let open = today::open_sessions(&store)?;
        Ok(Self {
            items: group_by_plan(today::due_items(&open, now, zone)),
            next: today::next_due_item(&open, now, zone),
        })
    }
}

/// Puts the items of each plan together; the plan with the earliest item comes first.
fn group_by_plan(mut items: Vec<TodayItem>) -> Vec<TodayItem> {
    let mut first: BTreeMap<SessionId, Timestamp> = BTreeMap::new();
    for item in &items {
        let start = first.entry(item.session.clone()).or_insert(item.due.start);
        *start = (*start).min(item.due.start);
    }
    items.sort_by_key(|item| {
        (first.get(&item.session).copied(), item.session.clone(), item.due.start)
    });
    items
}

/// Has the session decide, and says what stands in it then.
fn send_and_report(
    app: &App,
    store: &Store,
    item: &TodayItem,
    command: Command,
    words: &str,
) -> anyhow::Result<CliExit> {
    block_on(async {
        app.send_command(store, &item.session, command).await?;
        let summary = store.session_info(&item.session)?.summary;
        StdoutWriter::new().write_line(&format!(
            "{} is {words}. {}: {} of {} done",
            text::clean_line(&item.due.title),
            text::clean_line(&item.plan),
            summary.done,
            summary.total,
        ))?;
        store.close();
        Ok(CliExit::Success)
    })
}

/// What is due by that name or number. By name, what comes later may be settled sooner.
fn pick_item(
    app: &App,
    now: Timestamp,
    zone: &TimeZone,
    name: &str,
    what: &TodayCommand,
) -> anyhow::Result<TodayItem> {
    let due = DueList::load(app, now, zone)?;
    if let Some(item) = find_item(&due.items, name)? {
        return Ok(item.clone());
    }
    if name.parse::<usize>().is_err() {
        let ahead = now.checked_add(SignedDuration::from_hours(LOOK_AHEAD_HOURS)).unwrap_or(now);
        if let Some(item) = find_item(&DueList::load(app, ahead, zone)?.items, name)? {
            return Ok(item.clone());
        }
    }
    let problem = match (due.items.is_empty(), &due.next) {
        (true, Some(next)) => {
            let line = next_item_line(next, &now.to_zoned(zone.clone()));
            CliProblem::usage(format!("Nothing is due today. {line}")).with_remedy(format!(
                "to do so before that: planwright today {} {}/{}{}",
                what.name(),
                next.session.short_id(),
                next.due.task,
                if matches!(what, TodayCommand::Move { .. }) { " WHEN" } else { "" }
            ))
        }
        (true, None) => CliProblem::usage("Nothing is due today, and no plan has a next task")
            .with_remedy("planwright \"your goal\" makes a plan"),
        (false, _) => CliProblem::usage(format!("No due task named \"{name}\""))
            .with_remedy("planwright today lists what is due, with its numbers"),
    };
    Err(problem.into())
}

fn find_item<'a>(items: &'a [TodayItem], name: &str) -> anyhow::Result<Option<&'a TodayItem>> {
    let by_number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    if let Some(item) = by_number.and_then(|at| items.get(at)) {
        return Ok(Some(item));
    }
    let (session, task) = match name.rsplit_once('/') {
        Some((session, task)) => (Some(session), task),
        None => (None, name),
    };
    let titled = |item: &TodayItem| item.due.title.trim().eq_ignore_ascii_case(task.trim());
    let fits = |item: &&TodayItem| {
        (item.due.task.as_str() == task || titled(item))
            && session.is_none_or(|prefix| item.session.as_str().starts_with(prefix))
    };
    // What is still open goes before what is settled.
    let mut found: Vec<&TodayItem> = items.iter().filter(fits).collect();
    found.sort_by_key(|item| item.due.status.is_settled());
    let one_plan = found.iter().all(|item| item.session == found[0].session);
    match found.first() {
        Some(_) if !one_plan => {
            let mut named: Vec<String> = found
                .iter()
                .map(|item| {
                    let plan = text::clean_line(&item.plan).into_owned();
                    format!("{}/{task} ({plan})", item.session.short_id())
                })
                .collect();
            named.dedup();
            Err(CliProblem::usage(format!("Several plans have a task \"{task}\""))
                .with_remedy(format!("name it with its plan: {}", named.join(", ")))
                .into())
        }
        found => Ok(found.copied()),
    }
}

fn print_items(shared: &SharedArgs, due: &DueList, now: &Zoned) -> anyhow::Result<CliExit> {
    let mut out = StdoutWriter::new();
    if shared.json {
        for item in &due.items {
            out.write_line(&item_json(item).to_string())?;
        }
        return Ok(CliExit::Success);
    }
    let coming = due.next.as_ref().map(|item| next_item_line(item, now));
    if due.items.is_empty() {
        let made = "Plans that you approve appear here. Make one with planwright \"your goal\".";
        let day = dates::format_date(now.date(), now.date());
        out.write_line(&format!("Nothing is due today, {day}."))?;
        out.write_line(coming.as_deref().unwrap_or(made))?;
        return Ok(CliExit::Success);
    }
    out.write_line(&day_line(&due.items, now))?;
    let titles = due.items.iter().map(|item| text::display_width(&item.due.title)).max();
    let mut plan = None;
    for (number, item) in (1..).zip(&due.items) {
        if plan != Some(&item.session) {
            plan = Some(&item.session);
            out.write_line("")?;
            out.write_line(&plan_heading(item, &due.items))?;
        }
        out.write_line(&item_line(number, item, titles.unwrap_or(0), now))?;
    }
    let open = due.items.iter().any(|item| !item.due.status.is_settled());
    if let Some(coming) = coming.filter(|_| !open) {
        out.write_line("")?;
        out.write_line(&coming)?;
    }
    out.write_line("")?;
    out.write_line("planwright today done N | skip N | move N WHEN | start N")?;
    Ok(CliExit::Success)
}

/// The day, and how much of it is left, done and late.
fn day_line(items: &[TodayItem], now: &Zoned) -> String {
    let sum = |wanted: &dyn Fn(&TodayItem) -> bool| -> u64 {
        let minutes = items.iter().filter(|item| wanted(item)).map(|item| item.due.minutes);
        minutes.map(u64::from).sum()
    };
    let left = sum(&|item| !item.due.status.is_settled());
    let done = sum(&|item| item.due.status == TaskStatus::Done);
    let late = items.iter().filter(|item| item.due.late).count();
    let open = items.iter().filter(|item| !item.due.status.is_settled()).count();
    let mut facts = vec![format!("{} to do", units::format_counted(open, "task"))];
    if left > 0 {
        facts.push(format!("{} left", units::format_planned(left)));
    }
    if done > 0 {
        facts.push(format!("{} done", units::format_planned(done)));
    }
    if late > 0 {
        facts.push(format!("{late} late"));
    }
    format!("{}: {}", dates::format_date(now.date(), now.date()), facts.join(", "))
}

/// The name of a plan; with its id where two plans have the same name.
fn plan_heading(item: &TodayItem, items: &[TodayItem]) -> String {
    let title = text::clean_line(&item.plan).into_owned();
    let twin = items.iter().any(|other| other.session != item.session && other.plan == item.plan);
    if twin { format!("{title} ({})", item.session.short_id()) } else { title }
}

/// The title in full, where it stands, when, and how long.
fn item_line(number: usize, item: &TodayItem, titles: usize, now: &Zoned) -> String {
    let due = &item.due;
    let start = due.start.to_zoned(now.time_zone().clone());
    let when = match (&due.block, start.date() == now.date()) {
        (None, _) => "any time".to_owned(),
        (Some(_), true) => dates::format_time(start.time()),
        (Some(_), false) => dates::format_date(start.date(), now.date()),
    };
    let minutes = match due.minutes {
        0 => String::new(),
        minutes => units::format_planned(minutes.into()),
    };
    let title = text::clean_line(&due.title);
    let status = item_status(item);
    format!("{number:>3}  {}  {when:<10}  {minutes:>10}  {status}", text::pad_right(&title, titles))
        .trim_end()
        .to_owned()
}

/// What comes after today, in one line: when, what, how long, in which plan.
fn next_item_line(item: &TodayItem, now: &Zoned) -> String {
    let due = &item.due;
    let start = due.start.to_zoned(now.time_zone().clone());
    format!(
        "Next: {}, {}, {}, of {} ({}/{})",
        dates::format_date_time(start.datetime(), now.date()),
        text::clean_line(&due.title),
        units::format_planned(due.minutes.into()),
        text::clean_line(&item.plan),
        item.session.short_id(),
        due.task,
    )
}

/// One word for where an item stands.
fn item_status(item: &TodayItem) -> &'static str {
    match item.due.status {
        status if status.is_settled() => status.label(),
        _ if item.due.late => "late",
        TaskStatus::Running => "running",
        _ if !item.due.ready => "waits",
        _ if item.due.yours => "yours",
        _ => "planned",
    }
}

fn item_json(item: &TodayItem) -> serde_json::Value {
    let due = &item.due;
    json!({
        "session": item.session,
        "plan": item.plan,
        "task": due.task,
        "title": due.title,
        "block": due.block,
        "occurrence": due.occurrence,
        "start": due.start,
        "minutes": due.minutes,
        "status": item_status(item),
        "late": due.late,
        "yours": due.yours,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_state::DueTask;

    fn item(session: &str, task: &str) -> TodayItem {
        TodayItem {
            session: SessionId::new(session),
            plan: "Plan".into(),
            due: DueTask {
                task: task.into(),
                title: task.into(),
                block: None,
                occurrence: None,
                start: Timestamp::UNIX_EPOCH,
                minutes: 30,
                status: TaskStatus::Pending,
                late: false,
                yours: true,
                ready: true,
            },
        }
    }

    #[test]
    fn what_comes_next_is_told_with_its_day_and_the_year_if_it_is_another() {
        let next = item("aaaaaa", "run");
        let from = |time: &str| next_item_line(&next, &time.parse::<Zoned>().unwrap());
        let words = "Next: Thu 1 Jan 00:00, run, 30 min, of Plan (aaaaaa/run)";
        assert_eq!(from("1970-01-01T09:00[UTC]"), words);
        assert!(from("1969-12-31T09:00[UTC]").starts_with("Next: Thu 1 Jan 1970 00:00"));
    }

    #[test]
    fn items_stand_under_their_plan_and_plans_of_one_name_are_told_apart() {
        let items = [item("bbbbbb", "run"), item("aaaaaa", "keys"), item("bbbbbb", "tell")];
        let grouped = group_by_plan(items.into());
        let sessions: Vec<&str> = grouped.iter().map(|item| item.session.as_str()).collect();
        assert_eq!(sessions, ["aaaaaa", "bbbbbb", "bbbbbb"]);
        assert_eq!(plan_heading(&grouped[0], &grouped), "Plan (aaaaaa)");
        assert_eq!(plan_heading(&grouped[1], &grouped[1..]), "Plan");
        let now = "1970-01-01T09:00[UTC]".parse().unwrap();
        assert_eq!(
            item_line(1, &grouped[0], 6, &now),
            "  1  keys    any time        30 min  yours"
        );
    }

    #[test]
    fn an_item_is_named_by_number_task_or_session_and_task() {
        let items = [item("aaaaaa", "run"), item("bbbbbb", "run"), item("bbbbbb", "keys")];
        assert_eq!(find_item(&items, "2").unwrap(), Some(&items[1]));
        assert_eq!(find_item(&items, "keys").unwrap(), Some(&items[2]));
        assert_eq!(find_item(&items, "bb/run").unwrap(), Some(&items[1]));
        let several = find_item(&items, "run").unwrap_err().to_string();
        assert!(several.contains("Several plans"), "{several}");
        assert!(several.contains("aaaaaa/run (Plan), bbbbbb/run (Plan)"), "{several}");
        assert_eq!(find_item(&items, "9").unwrap(), None);
    }
}
