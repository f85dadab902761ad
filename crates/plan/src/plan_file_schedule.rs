//! The schedule of a plan file: tasks run in parallel within capacities, in plain minutes or on its calendar.

use std::collections::{BTreeSet, HashMap};

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

use crate::check::{BlockReport, ScheduleReport, fill_estimates};
use planwright_model::{
    FileCalendar, GraphFacts, LagBasis, OffsetDateTime, Plan, TaskId, TaskLink as PlanLink,
    TaskNode,
};
use planwright_rcpsp::{LeafLink, RcpspProblem, RcpspSolution, SearchEffort, solve_rcpsp};
use planwright_schedule::ScheduleError;
use planwright_schedule::calendar::{
    CalendarError, LinkBound, WorkCalendar, WorkSpan, plus_days, resolve_local,
};
use planwright_schedule::layout_search::try_count;
use planwright_schedule::shared_resources::{
    LAG_ROUNDS, RaisedLags, name_error_with, rcpsp_link_kind,
};

/// The number of iterations for a plan file.
const FILE_ITERATIONS: u64 = 2_000;

/// Defaults for values that a calendar does not state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalContext {
    /// An IANA id.
    pub tz: String,
    pub first_day: Date,
}

impl LocalContext {
    /// Uses the zone of a clock, and the day after its current date.
    pub fn from_clock(now: &Zoned) -> Self {
        let tz = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
        Self { tz, first_day: plus_days(now.date(), 1) }
    }
}

/// Returns the working time of a plan file's calendar.
pub fn file_calendar(
    stated: &FileCalendar,
    local: &LocalContext,
) -> Result<WorkCalendar, CalendarError> {
    let mut hours = stated.hours.clone();
    if hours.tz.is_empty() {
        hours.tz.clone_from(&local.tz);
    }
    WorkCalendar::from_plan(&hours, stated.start.unwrap_or(local.first_day))
}

/// Schedules the tasks of a plan file, in plain minutes from 0 or in the working minutes of its calendar; returns
/// `None` if no task has a duration.
///
/// Missing durations are filled in as defined by G301. Without declared resources one person does everything.
pub fn schedule_plan_file(
    plan: &Plan,
    local: &LocalContext,
) -> Result<Option<ScheduleReport>, ScheduleError> {
    if plan.tasks.iter().all(|task| task.duration_minutes.is_none()) {
        return Ok(None);
    }
    let mut plan = plan.clone();
    fill_estimates(&mut plan);
    let calendar = plan.calendar.as_ref().map(|stated| file_calendar(stated, local)).transpose()?;
    let mut problem = build_problem(&plan)?;
    if let Some(calendar) = &calendar {
        problem.release = plan.tasks.iter().map(|task| release_of(task, calendar)).collect();
    }
    let leaf =
        |index: usize| plan.tasks.get(index).map_or_else(String::new, |task| task.id.to_string());
    let effort = SearchEffort { iterations: try_count(FILE_ITERATIONS, plan.tasks.len()), seed: 0 };
    let mut solve = |problem: &RcpspProblem| {
        solve_rcpsp(problem, effort).map_err(|error| name_error_with(error, leaf, &plan.resources))
    };
    let solution = match &calendar {
        Some(calendar) => solve_on_calendar(&mut problem, &plan, calendar, &mut solve)?,
        None => solve(&problem)?,
    };
    let moment = |at: Option<jiff::Timestamp>| {
        calendar.as_ref().zip(at).map(|(calendar, at)| OffsetDateTime::in_zone(at, calendar.zone()))
    };
    let mut blocks: Vec<BlockReport> = plan
        .tasks
        .iter()
        .zip(solution.starts.iter().zip(&problem.durations))
        .map(|(task, (&start, &minutes))| {
            let (start, finish) = (u64::from(start), u64::from(start) + u64::from(minutes));
            // A task of zero length is placed where the previous one ends.
            let begins = |calendar: &WorkCalendar| {
                if minutes == 0 { calendar.finish_at(start) } else { calendar.start_at(start) }
            };
            BlockReport {
                task: task.id.clone(),
                start,
                finish,
                start_at: moment(calendar.as_ref().and_then(begins)),
                finish_at: moment(calendar.as_ref().and_then(|known| known.finish_at(finish))),
            }
        })
        .collect();
    blocks.sort_by(|a, b| (a.start, &a.task).cmp(&(b.start, &b.task)));
    Ok(Some(ScheduleReport {
        makespan_minutes: u64::from(solution.makespan),
        lower_bound_minutes: u64::from(solution.lower_bound),
        tz: calendar.map(|calendar| calendar.tz().to_owned()),
        blocks,
    }))
}

/// Adds to the facts of a plan what its tasks need to start by the clock: when those start that wait for their scheduled
/// time, and in which zone its dates are meant.
pub fn add_start_times(
    facts: &mut GraphFacts,
    plan: &Plan,
    local: &LocalContext,
) -> Result<(), ScheduleError> {
    let needs_zone = |task: &TaskNode| task.not_before.is_some() || task.fixed_start.is_some();
    let stated = plan.calendar.as_ref().map_or("", |calendar| calendar.hours.tz.as_str());
    if stated.is_empty() && (plan.calendar.is_some() || plan.tasks.iter().any(needs_zone)) {
        facts.time_zone.clone_from(&local.tz);
    }
    if !plan.tasks.iter().any(|task| task.at_scheduled_time) {
        return Ok(());
    }
    let report = match &plan.calendar {
        Some(_) => schedule_plan_file(plan, local)?,
        None => None,
    };
    let planned: HashMap<&TaskId, Timestamp> = report
        .iter()
        .flat_map(|report| &report.blocks)
        .filter_map(|block| Some((&block.task, block.start_at?.at)))
        .collect();
    let waiting = plan.tasks.iter().filter(|task| task.at_scheduled_time);
    facts.scheduled_starts = waiting
        .filter_map(|task| {
            let start = planned.get(&task.id).copied().or_else(|| drafted_start(task));
            Some((task.id.clone(), start?))
        })
        .collect();
    Ok(())
}

/// The start that a task brings with it from the schedule it was drafted with.
fn drafted_start(task: &TaskNode) -> Option<Timestamp> {
    let stated = task.metadata.get("first_start")?;
    serde_json::from_value::<OffsetDateTime>(stated.clone()).ok().map(|moment| moment.at)
}

/// Solves in working minutes. An elapsed lag is raised until it is satisfied, as for roadmaps.
fn solve_on_calendar(
    problem: &mut RcpspProblem,
    plan: &Plan,
    calendar: &WorkCalendar,
    solve: &mut impl FnMut(&RcpspProblem) -> Result<RcpspSolution, ScheduleError>,
) -> Result<RcpspSolution, ScheduleError> {
    let stated: Vec<&PlanLink> = known_links(plan).map(|(_, _, link)| link).collect();
    let elapsed =
        |index: usize| stated.get(index).is_some_and(|link| link.lag_basis == LagBasis::Elapsed);
    for (_, link) in problem.links.iter_mut().enumerate().filter(|(index, _)| elapsed(*index)) {
        link.lag = link.lag.min(0);
    }
    let mut round = 0;
    loop {
        let solution = solve(problem)?;
        round += 1;
        let mut raised = RaisedLags::new();
        let span = |leaf: usize| {
            let start = u64::from(solution.starts.get(leaf).copied().unwrap_or(0));
            let minutes = u64::from(problem.durations.get(leaf).copied().unwrap_or(0));
            WorkSpan { start, finish: start + minutes }
        };
        for (index, link) in problem.links.iter().enumerate().filter(|(index, _)| elapsed(*index)) {
            let Some(stated) = stated.get(index) else { continue };
            let bound = calendar.link_bound(
                stated.kind,
                stated.lag_minutes,
                LagBasis::Elapsed,
                span(link.from),
            );
            let to = span(link.to);
            let short = match bound {
                LinkBound::Start(at) => at.saturating_sub(to.start),
                LinkBound::Finish(at) => at.saturating_sub(to.finish),
            };
            if short > 0 {
                // There is never more working time than clock time.
                let most = stated.lag_minutes.max(0);
                let short = i32::try_from(short).unwrap_or(i32::MAX);
                let lag = if round >= LAG_ROUNDS {
                    most
                } else {
                    link.lag.saturating_add(short).min(most)
                };
                raised.insert(index, lag);
            }
        }
        if raised.is_empty() || round > LAG_ROUNDS {
            return Ok(solution);
        }
        for (index, lag) in raised {
            problem.links[index].lag = lag;
        }
    }
}

/// Returns predecessor, successor and link of every dependency, in the order of the tasks.
fn known_links(plan: &Plan) -> impl Iterator<Item = (usize, usize, &PlanLink)> {
    let position: HashMap<&TaskId, usize> =
        plan.tasks.iter().enumerate().rev().map(|(index, task)| (&task.id, index)).collect();
    plan.tasks.iter().enumerate().flat_map(move |(to, task)| {
        let known = task.dependencies.iter();
        let known = known.filter_map(|link| Some((*position.get(&link.task)?, to, link)));
        known.filter(|(from, to, _)| from != to).collect::<Vec<_>>()
    })
}

/// Returns the working minute before which a task may not start, because of dates that were set by hand.
fn release_of(task: &TaskNode, calendar: &WorkCalendar) -> u32 {
    let starts = [task.not_before, task.fixed_start].into_iter().flatten();
    let starts = starts.map(|date| {
        let at = resolve_local(date.first_minute(), calendar.zone());
        calendar.working_minutes(at)
    });
    // What ends on a fixed date starts as late as its length allows.
    let end = task.fixed_end.map(|date| {
        let at = resolve_local(date.last_minute(), calendar.zone());
        let minutes = u64::from(task.duration_minutes.unwrap_or(0));
        calendar.working_minutes(at).saturating_sub(minutes)
    });
    starts.chain(end).max().map_or(0, |minutes| u32::try_from(minutes).unwrap_or(u32::MAX))
}

fn build_problem(plan: &Plan) -> Result<RcpspProblem, ScheduleError> {
    let names: Vec<&String> = plan.resources.keys().collect();
    let alone = plan.resources.is_empty();
    let owners: BTreeSet<&str> = plan.tasks.iter().filter_map(TaskNode::other_owner).collect();
    let owners: Vec<&str> = owners.into_iter().collect();
    let mut problem = RcpspProblem {
        capacities: if alone { vec![1] } else { plan.resources.values().copied().collect() },
        ..RcpspProblem::default()
    };
    // Everybody who is named does one thing at a time, beside what the person does.
    let first_owner = problem.capacities.len();
    problem.capacities.extend(owners.iter().map(|_| 1));
    problem.links.extend(known_links(plan).map(|(from, to, link)| LeafLink {
        from,
        to,
        kind: rcpsp_link_kind(link.kind),
        lag: link.lag_minutes,
    }));
    for task in &plan.tasks {
        problem.durations.push(task.duration_minutes.unwrap_or(0));
        let mut demand = Vec::new();
        for (name, &units) in task.resources.iter().filter(|_| !alone) {
            let Ok(resource) = names.binary_search(&name) else {
                let leaf = task.id.to_string();
                return Err(ScheduleError::UnknownResource { leaf, resource: name.clone() });
            };
            demand.push((resource, units));
        }
        let owner = task.other_owner().and_then(|name| owners.binary_search(&name).ok());
        match owner {
            Some(owner) => demand.push((first_owner + owner, 1)),
            None if alone => demand.push((0, 1)),
            None => {}
        }
        problem.demands.push(demand);
    }
    Ok(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, minutes: u32) -> TaskNode {
        let mut task = TaskNode::new(id, id);
        task.duration_minutes = Some(minutes);
        task
    }

    #[test]
    fn somebody_else_works_beside_the_person_and_dates_are_kept() {
        let local = LocalContext {
            tz: "Europe/Berlin".to_owned(),
            first_day: jiff::civil::date(2026, 6, 1),
        };
        let mut plan = Plan { calendar: Some(FileCalendar::default()), ..Plan::default() };
        plan.tasks = vec![task("a", 60), task("b", 60), task("c", 60)];
        for index in [1, 2] {
            plan.tasks[index].owner = "Anna".into();
        }
        let report = schedule_plan_file(&plan, &local).unwrap().unwrap();
        assert_eq!(report.makespan_minutes, 120, "Anna does two things, one after the other");
        plan.tasks[2].owner = "Ben".into();
        assert_eq!(schedule_plan_file(&plan, &local).unwrap().unwrap().makespan_minutes, 60);
        plan.tasks[0].not_before = Some("2026-06-03".parse().unwrap());
        let report = schedule_plan_file(&plan, &local).unwrap().unwrap();
        let block = report.blocks.iter().find(|block| block.task.as_str() == "a").unwrap();
        assert_eq!(block.start_at.unwrap().local_date(), jiff::civil::date(2026, 6, 3));
    }

    #[test]
    fn a_plan_file_without_resources_is_scheduled_for_one_person() {
        let local = LocalContext {
            tz: "Europe/Berlin".to_owned(),
            first_day: jiff::civil::date(2026, 6, 1),
        };
        let mut plan = Plan::default();
        for (id, minutes) in [("a", Some(30)), ("b", None), ("c", Some(50))] {
            let mut task = TaskNode::new(id, id);
            task.duration_minutes = minutes;
            plan.tasks.push(task);
        }
        let report = schedule_plan_file(&plan, &local).unwrap().unwrap();
        // The task without a duration gets the median of the others.
        assert_eq!((report.makespan_minutes, report.lower_bound_minutes), (120, 120));
        plan.resources = [("desk".to_owned(), 1)].into();
        assert_eq!(schedule_plan_file(&plan, &local).unwrap().unwrap().makespan_minutes, 50);
        plan.tasks.iter_mut().for_each(|task| task.duration_minutes = None);
        assert_eq!(schedule_plan_file(&plan, &local), Ok(None));
    }
}
