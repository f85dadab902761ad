//! `planwright today`: what is due today in all active plans, and one word for what to do about it.

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde_json::json;

use super::guard::require_person;
use super::session::{block_on, require_screen, resume_session, show_or_follow};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{App, today};
use crate::headless::PresetAnswers;
use planwright_model::Actor;
use planwright_model::event::Command;
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

#[derive(Debug, Subcommand)]
enum TodayCommand {
    /// Say that something is done
    Done {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
        /// What to remember about it
        #[arg(long)]
        note: Option<String>,
    },
    /// Leave something out; what waits for it goes on without it
    Skip {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
    },
    /// Move something to another time
    Move {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
        /// When, such as tomorrow, 14:30, fri 9:00 or +2h
        #[arg(required = true, num_args = 1.., allow_hyphen_values = true)]
        when: Vec<String>,
    },
    /// Open the plan of something and let its run go on
    Start {
        /// Its number in the list, its task, or SESSION/TASK
        item: String,
    },
}

pub(super) fn execute_today(shared: &SharedArgs, args: &TodayArgs) -> anyhow::Result<CliExit> {
    let Some(what) = &args.what else { return print_due(shared) };
    require_person("decide about your tasks")?;
    let app = App::settings_only(shared)?;
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let (TodayCommand::Done { item, .. }
    | TodayCommand::Skip { item }
    | TodayCommand::Move { item, .. }
    | TodayCommand::Start { item }) = what;
    let item = pick_item(&app, now, &zone, item)?;
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
            send_and_report(&app, &store, &item, settle(false, None), "left out")
        }
        TodayCommand::Move { when, .. } => {
            let when = when.join(" ");
            let usual = item.due.start.to_zoned(zone.clone()).time();
            let to = parse_when(&when, &now.to_zoned(zone), usual).ok_or_else(|| {
                CliProblem::usage(format!("`{when}` is no time"))
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

/// Prints what is due.
pub(super) fn print_due(shared: &SharedArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let (items, next) = match app.read_store()? {
        Some(store) => {
            let open = today::open_sessions(&store)?;
            (today::due_items(&open, now, &zone), today::next_due_item(&open, now, &zone))
        }
        None => (Vec::new(), None),
    };
    print_items(shared, &items, next.as_ref(), &now.to_zoned(zone))
}

fn load_due_items(app: &App, now: Timestamp, zone: &TimeZone) -> anyhow::Result<Vec<TodayItem>> {
    Ok(match app.read_store()? {
        Some(store) => today::due_items(&today::open_sessions(&store)?, now, zone),
        None => Vec::new(),
    })
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
fn pick_item(app: &App, now: Timestamp, zone: &TimeZone, name: &str) -> anyhow::Result<TodayItem> {
    if let Some(item) = find_item(&load_due_items(app, now, zone)?, name)? {
        return Ok(item.clone());
    }
    if name.parse::<usize>().is_err() {
        let ahead = now.checked_add(SignedDuration::from_hours(LOOK_AHEAD_HOURS)).unwrap_or(now);
        if let Some(item) = find_item(&load_due_items(app, ahead, zone)?, name)? {
            return Ok(item.clone());
        }
    }
    Err(CliProblem::usage(format!("nothing that is due is `{name}`"))
        .with_remedy("planwright today lists what is, with its numbers")
        .into())
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
    let fits = |item: &&TodayItem| {
        item.due.task.as_str() == task
            && session.is_none_or(|prefix| item.session.as_str().starts_with(prefix))
    };
    // What is still open goes before what is settled.
    let mut found: Vec<&TodayItem> = items.iter().filter(fits).collect();
    found.sort_by_key(|item| item.due.status.is_settled());
    let one_plan = found.iter().all(|item| item.session == found[0].session);
    match found.first() {
        Some(_) if !one_plan => {
            let named: Vec<String> =
                found.iter().map(|item| format!("{}/{task}", item.session.short_id())).collect();
            Err(CliProblem::usage(format!("several plans have a task `{task}`"))
                .with_remedy(format!("name it with its session: {}", named.join(", ")))
                .into())
        }
        found => Ok(found.copied()),
    }
}

fn print_items(
    shared: &SharedArgs,
    items: &[TodayItem],
    next: Option<&TodayItem>,
    now: &Zoned,
) -> anyhow::Result<CliExit> {
    let mut out = StdoutWriter::new();
    if shared.json {
        for item in items {
            out.write_line(&item_json(item).to_string())?;
        }
        return Ok(CliExit::Success);
    }
    let zone = now.time_zone();
    let day = dates::format_date(now.date(), now.date());
    let coming = next.map(|item| next_item_line(item, now));
    if items.is_empty() {
        out.write_line(&format!("nothing is due today, {day}"))?;
        let made = "plans that you approve show up here; planwright \"your goal\" makes one";
        out.write_line(coming.as_deref().unwrap_or(made))?;
        return Ok(CliExit::Success);
    }
    let open = items.iter().filter(|item| !item.due.status.is_settled()).count();
    let late = items.iter().filter(|item| item.due.late).count();
    out.write_line(&format!("{day}: {open} due, {late} late"))?;
    let titles = items.iter().map(|item| text::display_width(&item.due.title)).max();
    let titles = titles.unwrap_or(0).min(44);
    for (number, item) in (1..).zip(items) {
        let due = &item.due;
        let start = due.start.to_zoned(zone.clone());
        let when = if start.date() == now.date() {
            dates::format_time(start.time())
        } else {
            dates::format_short_date(start.date())
        };
        let title = text::truncate_end(&text::clean_line(&due.title), titles).into_owned();
        let minutes = units::format_planned(due.minutes.into());
        let plan = text::clean_line(&item.plan).into_owned();
        out.write_line(
            format!(
                "{number:>3}  {when:>6}  {:<8} {}  {minutes:>11}  {}/{}  {plan}",
                item_status(item),
                text::pad_right(&title, titles),
                item.session.short_id(),
                due.task,
            )
            .trim_end(),
        )?;
    }
    if let Some(coming) = coming.filter(|_| open == 0) {
        out.write_line(&coming)?;
    }
    out.write_line("planwright today done N | skip N | move N WHEN | start N")?;
    Ok(CliExit::Success)
}

/// What comes after today, in one line: when, what, how long, in which plan.
fn next_item_line(item: &TodayItem, now: &Zoned) -> String {
    let due = &item.due;
    let start = due.start.to_zoned(now.time_zone().clone());
    format!(
        "next is {}: {}, {}, of {} ({}/{})",
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
    use planwright_model::SessionId;
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
        let words = "next is Thu 1 Jan 00:00: run, 30 min, of Plan (aaaaaa/run)";
        assert_eq!(from("1970-01-01T09:00[UTC]"), words);
        assert!(from("1969-12-31T09:00[UTC]").starts_with("next is Thu 1 January 1970, 00:00"));
    }

    #[test]
    fn an_item_is_named_by_number_task_or_session_and_task() {
        let items = [item("aaaaaa", "run"), item("bbbbbb", "run"), item("bbbbbb", "keys")];
        assert_eq!(find_item(&items, "2").unwrap(), Some(&items[1]));
        assert_eq!(find_item(&items, "keys").unwrap(), Some(&items[2]));
        assert_eq!(find_item(&items, "bb/run").unwrap(), Some(&items[1]));
        let several = find_item(&items, "run").unwrap_err().to_string();
        assert!(several.contains("several plans"), "{several}");
        assert!(several.contains("aaaaaa/run, bbbbbb/run"), "{several}");
        assert_eq!(find_item(&items, "9").unwrap(), None);
    }
}
