//! `planwright today`: what is due today in all active plans, and one word for what to do about it.

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde_json::json;

use super::guard::require_person;
use super::session::{attend, block_on, needs_screen, take_up};
use super::{Exit, Out, Problem, Shared};
use crate::app::{App, today};
use crate::headless::Answers;
use planwright_model::Actor;
use planwright_model::event::Command;
use planwright_schedule::calendar::parse_when;
use planwright_state::TaskStatus;
use planwright_store::Store;
use planwright_text::{self as text, units};
use planwright_tui::TodayItem;

/// Ten years, as far as plans reach.
const LOOK_AHEAD_HOURS: i64 = 10 * 366 * 24;

#[derive(Debug, Args)]
pub struct TodayArgs {
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

pub(super) fn today(shared: &Shared, args: &TodayArgs) -> anyhow::Result<Exit> {
    let Some(what) = &args.what else { return list_all(shared) };
    require_person("decide about your tasks")?;
    let app = App::settings_only(shared)?;
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let (TodayCommand::Done { item, .. }
    | TodayCommand::Skip { item }
    | TodayCommand::Move { item, .. }
    | TodayCommand::Start { item }) = what;
    let item = pick(&app, now, &zone, item)?;
    let store = app.open_store()?;
    let settle = |done: bool, note: Option<String>| Command::Settle {
        task: item.due.task.clone(),
        occurrence: item.due.occurrence,
        done,
        note,
        by: Actor::Person,
    };
    match what {
        TodayCommand::Done { note, .. } => {
            tell(&app, &store, &item, settle(true, note.clone()), "done")
        }
        TodayCommand::Skip { .. } => tell(&app, &store, &item, settle(false, None), "left out"),
        TodayCommand::Move { when, .. } => {
            let when = when.join(" ");
            let usual = item.due.start.to_zoned(zone.clone()).time();
            let to = parse_when(&when, &now.to_zoned(zone), usual).ok_or_else(|| {
                Problem::usage(format!("`{when}` is no time"))
                    .remedy("write tomorrow, 14:30, fri 9:00, 2026-06-12 09:00 or +2h")
            })?;
            let block = item.due.block.clone().ok_or_else(|| {
                Problem::usage(format!("{} has no time to move", item.due.task))
                    .remedy("only plans that were made from a goal have a schedule")
            })?;
            let words = format!("moved to {}", to.strftime("%a %-d %B %H:%M"));
            let command = Command::MoveBlock { block, to: to.timestamp() };
            tell(&app, &store, &item, command, &words)
        }
        TodayCommand::Start { .. } => {
            needs_screen(shared)?;
            app.check_screen(shared)?;
            block_on(async {
                let handle = take_up(shared, &app, &store, &item.session, None).await?;
                attend(shared, &app, &store, handle, Answers::default().into()).await
            })
        }
    }
}

/// Prints what is due.
pub(super) fn list_all(shared: &Shared) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let (items, next) = match app.read_store()? {
        Some(store) => {
            let open = today::open_sessions(&store)?;
            (today::items(&open, now, &zone), today::next(&open, now, &zone))
        }
        None => (Vec::new(), None),
    };
    list(shared, &items, next.as_ref(), &now.to_zoned(zone))
}

fn due(app: &App, now: Timestamp, zone: &TimeZone) -> anyhow::Result<Vec<TodayItem>> {
    Ok(match app.read_store()? {
        Some(store) => today::items(&today::open_sessions(&store)?, now, zone),
        None => Vec::new(),
    })
}

/// Has the session decide, and says what stands in it then.
fn tell(
    app: &App,
    store: &Store,
    item: &TodayItem,
    command: Command,
    words: &str,
) -> anyhow::Result<Exit> {
    block_on(async {
        app.tell(store, &item.session, command).await?;
        let summary = store.session(&item.session)?.summary;
        Out::new().line(&format!(
            "{} is {words}. {}: {} of {} done",
            text::clean_line(&item.due.title),
            text::clean_line(&item.plan),
            summary.done,
            summary.total,
        ))?;
        store.close();
        Ok(Exit::Success)
    })
}

/// What is due by that name or number. By name, what comes later may be settled sooner.
fn pick(app: &App, now: Timestamp, zone: &TimeZone, name: &str) -> anyhow::Result<TodayItem> {
    if let Some(item) = find(&due(app, now, zone)?, name)? {
        return Ok(item.clone());
    }
    if name.parse::<usize>().is_err() {
        let ahead = now.checked_add(SignedDuration::from_hours(LOOK_AHEAD_HOURS)).unwrap_or(now);
        if let Some(item) = find(&due(app, ahead, zone)?, name)? {
            return Ok(item.clone());
        }
    }
    Err(Problem::usage(format!("nothing that is due is `{name}`"))
        .remedy("planwright today lists what is, with its numbers")
        .into())
}

fn find<'a>(items: &'a [TodayItem], name: &str) -> anyhow::Result<Option<&'a TodayItem>> {
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
                found.iter().map(|item| format!("{}/{task}", item.session.short())).collect();
            Err(Problem::usage(format!("several plans have a task `{task}`"))
                .remedy(format!("name it with its session: {}", named.join(", ")))
                .into())
        }
        found => Ok(found.copied()),
    }
}

fn list(
    shared: &Shared,
    items: &[TodayItem],
    next: Option<&TodayItem>,
    now: &Zoned,
) -> anyhow::Result<Exit> {
    let mut out = Out::new();
    if shared.json {
        for item in items {
            out.line(&as_json(item).to_string())?;
        }
        return Ok(Exit::Success);
    }
    let zone = now.time_zone();
    let day = now.strftime("%a %-d %B").to_string();
    let coming = next.map(|item| coming(item, now));
    if items.is_empty() {
        out.line(&format!("nothing is due today, {day}"))?;
        let made = "plans that you approve show up here; planwright \"your goal\" makes one";
        out.line(coming.as_deref().unwrap_or(made))?;
        return Ok(Exit::Success);
    }
    let open = items.iter().filter(|item| !item.due.status.is_settled()).count();
    let late = items.iter().filter(|item| item.due.late).count();
    out.line(&format!("{day}: {open} due, {late} late"))?;
    let titles = items.iter().map(|item| text::display_width(&item.due.title)).max();
    let titles = titles.unwrap_or(0).min(44);
    for (number, item) in (1..).zip(items) {
        let due = &item.due;
        let start = due.start.to_zoned(zone.clone());
        let when = if start.date() == now.date() {
            start.strftime("%H:%M").to_string()
        } else {
            start.strftime("%-d %b").to_string()
        };
        let title = text::truncate_end(&text::clean_line(&due.title), titles).into_owned();
        let minutes = units::planned(due.minutes.into());
        let plan = text::clean_line(&item.plan).into_owned();
        out.line(
            format!(
                "{number:>3}  {when:>6}  {:<8} {}  {minutes:>8}  {}/{}  {plan}",
                standing(item),
                text::pad_right(&title, titles),
                item.session.short(),
                due.task,
            )
            .trim_end(),
        )?;
    }
    if let Some(coming) = coming.filter(|_| open == 0) {
        out.line(&coming)?;
    }
    out.line("planwright today done N | skip N | move N WHEN | start N")?;
    Ok(Exit::Success)
}

/// What comes after today, in one line: when, what, how long, in which plan.
fn coming(item: &TodayItem, now: &Zoned) -> String {
    let due = &item.due;
    let start = due.start.to_zoned(now.time_zone().clone());
    // The year only where it is another one.
    let when = if start.year() == now.year() { "%a %-d %B, %H:%M" } else { "%a %-d %B %Y, %H:%M" };
    format!(
        "next is {}: {}, {}, of {} ({}/{})",
        start.strftime(when),
        text::clean_line(&due.title),
        units::planned(due.minutes.into()),
        text::clean_line(&item.plan),
        item.session.short(),
        due.task,
    )
}

/// One word for where an item stands.
fn standing(item: &TodayItem) -> &'static str {
    match item.due.status {
        status if status.is_settled() => status.word(),
        _ if item.due.late => "late",
        TaskStatus::Running => "running",
        _ if !item.due.ready => "waits",
        _ if item.due.yours => "yours",
        _ => "planned",
    }
}

fn as_json(item: &TodayItem) -> serde_json::Value {
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
        "status": standing(item),
        "late": due.late,
        "yours": due.yours,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::SessionId;
    use planwright_state::Due;

    fn item(session: &str, task: &str) -> TodayItem {
        TodayItem {
            session: SessionId::new(session),
            plan: "Plan".into(),
            due: Due {
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
        let from = |time: &str| coming(&next, &time.parse::<Zoned>().unwrap());
        let words = "next is Thu 1 January, 00:00: run, 30 min, of Plan (aaaaaa/run)";
        assert_eq!(from("1970-01-01T09:00[UTC]"), words);
        assert!(from("1969-12-31T09:00[UTC]").starts_with("next is Thu 1 January 1970, 00:00"));
    }

    #[test]
    fn an_item_is_named_by_number_task_or_session_and_task() {
        let items = [item("aaaaaa", "run"), item("bbbbbb", "run"), item("bbbbbb", "keys")];
        assert_eq!(find(&items, "2").unwrap(), Some(&items[1]));
        assert_eq!(find(&items, "keys").unwrap(), Some(&items[2]));
        assert_eq!(find(&items, "bb/run").unwrap(), Some(&items[1]));
        let several = find(&items, "run").unwrap_err().to_string();
        assert!(several.contains("several plans"), "{several}");
        assert!(several.contains("aaaaaa/run, bbbbbb/run"), "{several}");
        assert_eq!(find(&items, "9").unwrap(), None);
    }
}
