//! Time that a plan and another plan of the person's both take: what the card says of it, and moving blocks away.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::DecisionBuilder;
use super::shifted_plan::{shifted_nodes, shifted_schedule};
use crate::controller::{DecisionResult, DriverEffect};
use planwright_model::event::{ApprovalEvent, Command, CommandRefusal, Event, PlanningEvent};
use planwright_model::request::RequestDetail;
use planwright_model::{
    Actor, AdaptationAction, AdaptationLogEntry, Choice, ChoiceAction, NodeOrigin, OffsetDateTime,
    OverlapReport, OverlapShift, PlanDrafter, PortfolioImpact, Request, RequestKind, TaskId,
    shifted_minutes,
};
use planwright_state::SessionState;
use planwright_text::dates::format_date_time;
use planwright_text::units::{format_counted, format_planned};

/// How many overlaps, moves and weeks are named one by one.
const MOST_NAMED: usize = 6;
/// The labels of what a card says about other plans.
const LABELS: [&str; 4] = ["Overlap", "Could move", "No free time", "Week"];

/// Puts what is known about other plans on the request for the plan.
pub(crate) fn amend_with_overlaps(state: &SessionState) -> Vec<Event> {
    let Some(report) = state.planning.overlaps.as_deref() else { return Vec::new() };
    let asked = state.requests.open.values().map(|open| &open.request);
    asked
        .filter(|request| matches!(request.kind, RequestKind::FinalPlan { .. }))
        .map(|request| {
            let amended = request_with_overlaps(request, report, state);
            ApprovalEvent::Amended { request: Arc::new(amended) }.into()
        })
        .collect()
}

fn request_with_overlaps(
    request: &Request,
    report: &OverlapReport,
    state: &SessionState,
) -> Request {
    let mut amended = request.clone();
    amended.unread = None;
    amended.details.retain(|detail| !LABELS.contains(&detail.label.as_str()));
    amended.choices.retain(|choice| choice.action != ChoiceAction::MoveOverlaps);
    if report.overlaps.is_empty() {
        return amended;
    }
    amended.details.splice(0..0, overlap_details(report, state));
    let own = report.shifts_in(None).len();
    if own > 0 {
        let what = format!("{} to free time; then you are asked again", moves(own));
        let place = amended.choices.len().min(1);
        amended
            .choices
            .insert(place, Choice::new(ChoiceAction::MoveOverlaps, "move what overlaps", what));
    }
    amended
}

fn moves(blocks: usize) -> String {
    match blocks {
        1 => "1 block moves".to_owned(),
        many => format!("{many} blocks move"),
    }
}

/// The zone of the plan.
fn plan_zone(state: &SessionState) -> TimeZone {
    let name = state.planning.schedule.as_deref().map_or("UTC", |schedule| schedule.tz.as_str());
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

fn overlap_details(report: &OverlapReport, state: &SessionState) -> Vec<RequestDetail> {
    let zone = plan_zone(state);
    let today = state.at.unwrap_or_default().to_zoned(zone.clone()).date();
    let local =
        |at: OffsetDateTime| format_date_time(at.at.to_zoned(zone.clone()).datetime(), today);
    let mut details = Vec::new();
    for overlap in report.overlaps.iter().take(MOST_NAMED) {
        let text = format!(
            "\"{}\" and \"{}\" of \"{}\": {}, {}",
            overlap.title,
            overlap.other_title,
            overlap.other_plan,
            local(overlap.start),
            format_planned(overlap.minutes.into())
        );
        details.push(RequestDetail::new("Overlap", text));
    }
    let more = report.overlaps.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        details.push(RequestDetail::new("Overlap", format!("{more} more")));
    }
    for shift in report.shifts.iter().take(MOST_NAMED) {
        let of =
            if shift.plan.is_empty() { String::new() } else { format!(" of \"{}\"", shift.plan) };
        let text = format!("\"{}\"{of}: {} → {}", shift.title, local(shift.from), local(shift.to));
        details.push(RequestDetail::new("Could move", text));
    }
    if !report.stuck.is_empty() {
        let titles: Vec<String> =
            report.stuck.iter().take(MOST_NAMED).map(|title| format!("\"{title}\"")).collect();
        let text =
            format!("{}, without breaking a link, a limit or the deadline", titles.join(", "));
        details.push(RequestDetail::new("No free time", text));
    }
    for week in report.weeks.iter().take(MOST_NAMED) {
        let text = format!(
            "{}: {} of this plan and {} of others, in {}",
            week.week,
            format_planned(week.planned_minutes.into()),
            format_planned(week.other_minutes.into()),
            format_planned(week.available_minutes.into())
        );
        details.push(RequestDetail::new("Week", text));
    }
    details
}

/// Moves the blocks of this plan that overlap others. The request stays open, and says what is left.
pub(super) fn move_overlaps(
    mut draft: DecisionBuilder<'_>,
    request: &Request,
    by: Actor,
) -> DecisionResult {
    let refused = CommandRefusal::NotOffered { id: request.id };
    let Some(report) = draft.planning().overlaps.clone() else { return Err(refused) };
    let own = report.shifts_in(None);
    let Some(schedule) = draft.planning().schedule.clone().filter(|_| !own.is_empty()) else {
        return Err(refused);
    };
    let moved = shifted_schedule(&schedule, &own)?;
    let others = report.other_plans().join("\", \"");
    let what = format_counted(own.len(), "block");
    let reason = format!("{what} moved out of the way of \"{others}\"");
    let impact = PortfolioImpact {
        affected_plans: report.other_plans().into_iter().map(str::to_owned).collect(),
        minutes_shifted: shifted_minutes(&own),
    };
    let nodes = shifted_nodes(&schedule, &own);
    record_adaptation(&mut draft, nodes, reason, impact, "portfolio_shift");
    draft.record(PlanningEvent::ScheduleDrafted {
        schedule: Arc::new(moved),
        by: PlanDrafter::Person,
    });
    let is_left = |overlap: &&planwright_model::PlanOverlap| {
        !own.iter().any(|shift| shift.block == overlap.block)
    };
    let left = OverlapReport {
        overlaps: report.overlaps.iter().filter(is_left).cloned().collect(),
        shifts: report.shifts.iter().filter(|shift| shift.session.is_some()).cloned().collect(),
        ..OverlapReport::clone(&report)
    };
    draft.record(PlanningEvent::OverlapsFound { report: Box::new(left) });
    for event in amend_with_overlaps(draft.state()) {
        draft.record(event);
    }
    let moved_there = shifted_minutes(&own);
    for session in report.other_sessions() {
        let command = Command::ShiftBlocks {
            shifts: Vec::new(),
            other_plan: draft.state().session.title.clone(),
            moved_there,
            busy: Vec::new(),
            by,
        };
        draft.effects.push(DriverEffect::CommandOtherPlan(session.clone(), Box::new(command)));
    }
    Ok(draft.into_decision())
}

/// Moves the blocks of other plans that were freed for this one; it is approved.
pub(super) fn move_freed_blocks(draft: &mut DecisionBuilder<'_>, by: Actor) {
    let Some(report) = draft.planning().overlaps.clone() else { return };
    let freed = draft.planning().freed_blocks.clone();
    let is_freed = |shift: &OverlapShift| {
        let session = shift.session.as_ref();
        session.is_some_and(|session| freed.contains(&format!("{session}/{}", shift.block)))
    };
    for session in report.other_sessions() {
        let mut shifts = report.shifts_in(Some(session));
        shifts.retain(is_freed);
        let Some(first) = shifts.first() else { continue };
        let (plan, minutes) = (first.plan.clone(), shifted_minutes(&shifts));
        let what = format_counted(shifts.len(), "block");
        // The other plan decides for itself, and its journal has what became of it.
        let reason = format!("\"{plan}\" was asked to move {what} out of the way of this plan");
        let impact = PortfolioImpact { affected_plans: vec![plan], minutes_shifted: minutes };
        record_adaptation(draft, Vec::new(), reason, impact, "portfolio_shift");
        let other_plan = draft.state().session.title.clone();
        let command =
            Command::ShiftBlocks { shifts, other_plan, moved_there: 0, busy: Vec::new(), by };
        draft.effects.push(DriverEffect::CommandOtherPlan(session.clone(), Box::new(command)));
    }
}

pub(super) fn record_adaptation(
    draft: &mut DecisionBuilder<'_>,
    node_ids: Vec<TaskId>,
    reason: String,
    impact: PortfolioImpact,
    strategy: &str,
) {
    let version = draft.planning().outline.as_deref().map_or(1, |outline| outline.version);
    let entry = AdaptationLogEntry {
        id: format!("a{}", draft.planning().adaptation_log.len() + 1),
        timestamp: draft.now,
        node_ids,
        action: AdaptationAction::Reschedule,
        reason,
        origin: NodeOrigin::UserFeedback,
        strategy_applied: Some(strategy.to_owned()),
        portfolio_impact: Some(impact),
        from_version: version,
        to_version: version,
    };
    draft.record(PlanningEvent::Adapted { entry });
}
