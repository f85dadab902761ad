//! `planwright today catch-up`: what each way of catching up with a late plan leads to, and applying one.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::session::block_on;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{App, today};
use planwright_model::catch_up::{CatchUpWay, OpenWork};
use planwright_model::event::Command;
use planwright_model::{Actor, FixedEvent, OffsetDateTime, SessionId};
use planwright_schedule::{
    CatchUpFate, CatchUpPreview, CatchUpRequest, CatchUpRow, OtherBlock, offered_ways,
    preview_catch_up,
};
use planwright_state::SessionState;
use planwright_text::{self as text, dates, units};

/// A plan that is late.
struct LatePlan {
    session: SessionId,
    state: Arc<SessionState>,
    work: OpenWork,
    /// Time that the person's other plans take.
    busy: Vec<FixedEvent>,
}

/// Shows what each way leads to, or applies one.
pub(super) fn execute_catch_up(
    shared: &SharedArgs,
    session: Option<&str>,
    way: Option<CatchUpWay>,
    undo: bool,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    if undo {
        return undo_catch_up(&app, session);
    }
    let late = late_plans(&app, session, way, now, &zone)?;
    let mut out = StdoutWriter::new();
    match (late.as_slice(), way) {
        ([], _) => out.write_line("No task is late.")?,
        (plans, None) => {
            for plan in plans {
                print_ways(&mut out, plan, now, &zone)?;
            }
            out.write_line(
                "Apply one with: planwright today catch-up --way move | skip | push | replan",
            )?;
        }
        ([plan], Some(way)) => return apply_way(&app, plan, way, now, &zone),
        (plans, Some(_)) => {
            let names: Vec<String> =
                plans.iter().map(|plan| plan.session.short_id().to_string()).collect();
            return Err(CliProblem::usage("several plans are late")
                .with_remedy(format!("name one of them: {}", names.join(", ")))
                .into());
        }
    }
    Ok(CliExit::Success)
}

fn late_plans(
    app: &App,
    session: Option<&str>,
    way: Option<CatchUpWay>,
    now: Timestamp,
    zone: &TimeZone,
) -> anyhow::Result<Vec<LatePlan>> {
    let Some(store) = app.read_store()? else { return Ok(Vec::new()) };
    let named =
        |id: &SessionId| session.is_none_or(|name| name == "last" || id.as_str().starts_with(name));
    let mut found = Vec::new();
    for (info, state) in today::open_sessions(&store)? {
        let work = state.open_work(now, zone);
        // Planning again is also for a plan that is not late.
        let wanted = !work.late.is_empty() || way == Some(CatchUpWay::Replan);
        let scheduled = state.is_runnable() && state.planning.schedule.is_some();
        if named(&info.id) && scheduled && wanted {
            let others = crate::app::planning::other_plan_blocks(&store, &info.id)?;
            let event = |other: OtherBlock| FixedEvent {
                title: other.plan,
                start: other.block.start,
                end: other.block.end,
            };
            let busy = others.into_iter().map(event).collect();
            found.push(LatePlan { session: info.id, state, work, busy });
        }
    }
    Ok(found)
}

fn with_request<T>(
    plan: &LatePlan,
    now: Timestamp,
    act: impl FnOnce(&CatchUpRequest<'_>) -> T,
) -> anyhow::Result<T> {
    let talk = &plan.state.planning;
    let (Some(context), Some(roadmap), Some(schedule)) =
        (talk.context.as_deref(), talk.roadmap.as_deref(), talk.schedule.as_deref())
    else {
        return Err(CliProblem::usage("this plan has no schedule").into());
    };
    let left_out = BTreeSet::new();
    Ok(act(&CatchUpRequest {
        roadmap,
        context,
        schedule,
        work: &plan.work,
        left_out: &left_out,
        busy: &plan.busy,
        now,
    }))
}

fn preview(plan: &LatePlan, way: CatchUpWay, now: Timestamp) -> anyhow::Result<CatchUpPreview> {
    with_request(plan, now, |request| preview_catch_up(request, way))?
        .map_err(|why| CliProblem::usage(format!("can't catch up: {why}")).into())
}

fn print_ways(
    out: &mut StdoutWriter,
    plan: &LatePlan,
    now: Timestamp,
    zone: &TimeZone,
) -> anyhow::Result<()> {
    let title = text::clean_line(&plan.state.session.title);
    let late = units::format_counted(plan.work.late.len(), "task");
    out.write_line(&format!("{title} ({}): {late} late", plan.session.short_id()))?;
    out.write_line("Done work stays as it is; everything else can move.")?;
    for (way, shown) in with_request(plan, now, offered_ways)? {
        let shown = match shown {
            Ok(shown) => shown,
            Err(why) => {
                out.write_line(&format!("  {:<6} not possible: {why}", way.name()))?;
                continue;
            }
        };
        let next = shown.next.map_or("nothing left".to_owned(), |at| format_moment(at, now, zone));
        let end = shown.end.map_or("-".to_owned(), |at| format_date(at, now, zone));
        let week = units::format_planned(shown.busiest_week_minutes.into());
        let what = way_words(&shown);
        out.write_line(&format!(
            "  {:<6} {what:<34} next {next}, ends {end}, busiest week {week}",
            way.name()
        ))?;
        if let Some(late) = shown.describe_lateness() {
            out.write_line(&format!("         {late}."))?;
        }
    }
    Ok(())
}

/// What a way does, in words.
fn way_words(shown: &CatchUpPreview) -> String {
    match (shown.way, shown.shift_days) {
        (CatchUpWay::MoveLate, _) => "move them to free time".to_owned(),
        (CatchUpWay::SkipLate, _) => "skip them, keep the plan".to_owned(),
        (CatchUpWay::PushBack, days) => {
            let days = units::format_counted(days.unwrap_or_default() as usize, "day");
            format!("push everything back by {days}")
        }
        (CatchUpWay::Replan, _) => "plan what is open again".to_owned(),
    }
}

fn apply_way(
    app: &App,
    plan: &LatePlan,
    way: CatchUpWay,
    now: Timestamp,
    zone: &TimeZone,
) -> anyhow::Result<CliExit> {
    let shown = preview(plan, way, now)?;
    let store = app.open_store()?;
    block_on(async {
        let (left_out, busy) = (Vec::new(), plan.busy.clone());
        let command = Command::CatchUp { way, left_out, busy, by: Actor::Person };
        app.send_command(&store, &plan.session, command).await?;
        let mut out = StdoutWriter::new();
        for row in &shown.rows {
            out.write_line(&row_line(row, now, zone))?;
        }
        let end =
            |at: Option<OffsetDateTime>| at.map_or("-".to_owned(), |at| format_date(at, now, zone));
        let (before, after) = (end(shown.end_before), end(shown.end));
        let ends = if before == after {
            format!("still ends {after}")
        } else {
            format!("ends {before} → {after}")
        };
        out.write_line(&format!("{}: {ends}", text::clean_line(&plan.state.session.title)))?;
        if let Some(late) = shown.describe_lateness() {
            out.write_line(&format!("{late}."))?;
        }
        out.write_line("Undo it with: planwright today catch-up --undo")?;
        store.close();
        Ok(CliExit::Success)
    })
}

fn row_line(row: &CatchUpRow, now: Timestamp, zone: &TimeZone) -> String {
    let title = text::clean_line(&row.title);
    let from = format_date(row.from, now, zone);
    match &row.fate {
        CatchUpFate::Moved { to } => {
            format!("  > {title}: {from} → {}", format_moment(*to, now, zone))
        }
        CatchUpFate::Skipped => format!("  » {title}: {from}, skipped"),
        CatchUpFate::FitsNowhere => format!("  ! {title}: {from}, no free time"),
    }
}

/// The plan whose catch-up was last can go back.
fn undo_catch_up(app: &App, session: Option<&str>) -> anyhow::Result<CliExit> {
    let store = app.open_store()?;
    let undoable =
        |state: &SessionState| state.planning.catch_up.as_ref().is_some_and(|undo| undo.applied);
    let named =
        |id: &SessionId| session.is_none_or(|name| name == "last" || id.as_str().starts_with(name));
    let found = today::open_sessions(&store)?
        .into_iter()
        .find(|(info, state)| named(&info.id) && undoable(state));
    let Some((info, state)) = found else {
        return Err(CliProblem::usage("no catch-up can be undone")
            .with_remedy("only the last one can, until the plan changes again")
            .into());
    };
    block_on(async {
        app.send_command(&store, &info.id, Command::Undo).await?;
        let title = text::clean_line(&state.session.title).into_owned();
        StdoutWriter::new().write_line(&format!("{title}: the dates are as they were"))?;
        store.close();
        Ok(CliExit::Success)
    })
}

fn format_date(at: OffsetDateTime, now: Timestamp, zone: &TimeZone) -> String {
    let local = |at: Timestamp| at.to_zoned(zone.clone()).date();
    dates::format_date(local(at.at), local(now))
}

fn format_moment(at: OffsetDateTime, now: Timestamp, zone: &TimeZone) -> String {
    let local = |at: Timestamp| at.to_zoned(zone.clone()).datetime();
    dates::format_near_date_time(local(at.at), local(now).date())
}
