//! What a model reports about change requests, checked against what really changed.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use planwright_model::agent_conversation::{ReportedOutcome, RequestReport};
use planwright_model::event::PlanningEvent;
use planwright_model::{CommentOutcome, PlanNode, Roadmap, Schedule, TaskId};
use planwright_state::PlanningSlice;

/// Reports that were read and checked, and what is wrong with them.
pub(super) struct CheckedReports {
    pub(super) reports: Vec<RequestReport>,
    pub(super) problems: Vec<String>,
}

/// Reads the reports of a hand-in and compares them with the draft that the person saw. `schedule` is the one that
/// follows from what is handed in.
pub(super) fn check_reports(
    talk: &PlanningSlice,
    arguments: &Value,
    schedule: Option<&Schedule>,
) -> CheckedReports {
    let given = arguments.get("requests").and_then(Value::as_array);
    let given = given.map(Vec::as_slice).unwrap_or_default();
    let mut changed = changed_nodes(talk);
    changed.extend(moved_nodes(talk, schedule));
    let limits_changed = limits_changed(talk);
    let mut checked = CheckedReports { reports: Vec::new(), problems: Vec::new() };
    for (number, request) in (1u64..).zip(&talk.change_requests) {
        let about = |report: &&Value| report.get("number").and_then(Value::as_u64) == Some(number);
        let reports: Vec<&Value> = given.iter().filter(about).collect();
        if reports.is_empty() {
            checked.problems.push(format!("request {number} has no report"));
            checked.reports.push(RequestReport {
                request: request.text.clone(),
                outcome: ReportedOutcome::Not,
                nodes: Vec::new(),
                words: "the model did not report on it".to_owned(),
                objection: None,
            });
            continue;
        }
        for report in reports {
            let wish = named_wish(&request.text, report);
            let read = read_report(wish, report, &changed, limits_changed);
            if let Some(objection) = &read.objection {
                checked.problems.push(format!("request {number}: {objection}"));
            }
            checked.reports.push(read);
        }
    }
    checked
}

/// The part of a request that a report is about: words of it that the report quotes, or all of it.
fn named_wish<'a>(request: &'a str, report: &'a Value) -> &'a str {
    let quoted = report.get("wish").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    let is_part = !quoted.is_empty() && request.to_lowercase().contains(&quoted.to_lowercase());
    if is_part { quoted } else { request.trim() }
}

fn read_report(
    request: &str,
    report: &Value,
    changed: &BTreeSet<TaskId>,
    limits_changed: bool,
) -> RequestReport {
    let claimed = match report.get("status").and_then(Value::as_str) {
        Some("met") => ReportedOutcome::Met,
        Some("partly") => ReportedOutcome::Partly,
        Some("answered") => ReportedOutcome::Answered,
        _ => ReportedOutcome::Not,
    };
    let named: Vec<TaskId> = report
        .get("nodes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|id| TaskId::from(id.trim()))
        .collect();
    let (real, unreal): (Vec<TaskId>, Vec<TaskId>) =
        named.into_iter().partition(|id| changed.contains(id));
    let claims = matches!(claimed, ReportedOutcome::Met | ReportedOutcome::Partly);
    let nothing = claims && real.is_empty() && !limits_changed && changed.is_empty();
    let unreal: Vec<&str> = unreal.iter().map(TaskId::as_str).collect();
    let objection = if nothing {
        Some("reported as done, but nothing in the plan changed".to_owned())
    } else if claims && !unreal.is_empty() {
        Some(format!("these did not change: {}", unreal.join(", ")))
    } else {
        None
    };
    let words = report.get("words").and_then(Value::as_str).unwrap_or_default().trim();
    RequestReport {
        request: request.to_owned(),
        outcome: if nothing { ReportedOutcome::Not } else { claimed },
        nodes: real,
        words: words.to_owned(),
        objection,
    }
}

/// The nodes that differ from the draft that the person saw: their own fields, or their links.
pub(super) fn changed_nodes(talk: &PlanningSlice) -> BTreeSet<TaskId> {
    let before = talk.compared.as_deref();
    let roadmap_before = before.and_then(|draft| draft.roadmap.as_deref());
    let nodes_before = roadmap_before.map(|roadmap| roadmap.nodes.as_slice()).or_else(|| {
        before.and_then(|draft| draft.outline.as_deref()).map(|plan| plan.nodes.as_slice())
    });
    let nodes_before = nodes_before.unwrap_or_default();
    let nodes_now = talk.roadmap.as_deref().map(|roadmap| roadmap.nodes.as_slice());
    let nodes_now = nodes_now.unwrap_or_default();
    // Neighbors of a new node move down; that is no change of theirs.
    let plain = |node: &PlanNode| PlanNode {
        position: 0,
        origin: planwright_model::NodeOrigin::System,
        ..node.clone()
    };
    let mut changed: BTreeSet<TaskId> = BTreeSet::new();
    for node in nodes_now {
        let old = nodes_before.iter().find(|old| old.id == node.id);
        if old.is_none_or(|old| plain(old) != plain(node)) {
            changed.insert(node.id.clone());
        }
    }
    let gone = nodes_before.iter().filter(|old| !nodes_now.iter().any(|node| node.id == old.id));
    changed.extend(gone.map(|old| old.id.clone()));
    let links = |roadmap: Option<&Roadmap>| -> BTreeSet<String> {
        let links = roadmap.into_iter().flat_map(|roadmap| &roadmap.dependencies);
        links
            .map(|link| {
                format!(
                    "{}\u{0}{}\u{0}{:?}{}{:?}",
                    link.from, link.to, link.kind, link.lag_minutes, link.lag_basis
                )
            })
            .collect()
    };
    for link in links(roadmap_before).symmetric_difference(&links(talk.roadmap.as_deref())) {
        changed.extend(link.split('\u{0}').take(2).map(TaskId::from));
    }
    changed
}

/// The nodes with other dates than in the draft that the person saw.
fn moved_nodes(talk: &PlanningSlice, schedule: Option<&Schedule>) -> BTreeSet<TaskId> {
    let before = talk.compared.as_deref().and_then(|draft| draft.schedule.as_deref());
    let (Some(before), Some(now)) = (before, schedule) else { return BTreeSet::new() };
    let times = |schedule: &Schedule| -> BTreeSet<(TaskId, Timestamp, Timestamp)> {
        let blocks = schedule.blocks.iter();
        blocks.map(|block| (block.plan_node_id.clone(), block.start.at, block.end.at)).collect()
    };
    let (before, now) = (times(before), times(now));
    before.symmetric_difference(&now).map(|(id, _, _)| id.clone()).collect()
}

fn limits_changed(talk: &PlanningSlice) -> bool {
    let before = talk.compared.as_deref().and_then(|draft| draft.outline.as_deref());
    let now = talk.outline.as_deref();
    match (before, now) {
        (Some(before), Some(now)) => {
            let (old, new) = (&before.plan_context, &now.plan_context);
            (&old.constraints, &old.calendar, &old.people, &old.own_days_off)
                != (&new.constraints, &new.calendar, &new.people, &new.own_days_off)
        }
        _ => true,
    }
}

/// What follows from reports: they are kept for the card, the requests are settled, and comments are closed.
pub(in crate::planner) fn report_events(
    talk: &PlanningSlice,
    reports: Vec<RequestReport>,
) -> Vec<PlanningEvent> {
    if talk.change_requests.is_empty() {
        return Vec::new();
    }
    let mut events = Vec::new();
    for request in &talk.change_requests {
        // What is worst about a request decides about its comment.
        let about = reports
            .iter()
            .filter(|report| request.text.to_lowercase().contains(&report.request.to_lowercase()));
        let Some(report) = about.max_by_key(|report| report.outcome == ReportedOutcome::Not) else {
            continue;
        };
        let about = talk.comments.iter().filter(|comment| {
            comment.outcome.is_none()
                && comment.text == request.text
                && request.nodes == [comment.node.clone()]
        });
        events.extend(about.map(|comment| PlanningEvent::CommentSettled {
            id: comment.id,
            outcome: match report.outcome {
                ReportedOutcome::Not => CommentOutcome::Declined { why: report.words.clone() },
                _ => CommentOutcome::Addressed { how: report.words.clone() },
            },
        }));
    }
    let met = reports.iter().filter(|report| report.outcome != ReportedOutcome::Not);
    let met = met.map(|report| report.words.clone()).collect();
    events.push(PlanningEvent::WishesMet { met, open: Vec::new() });
    events.push(PlanningEvent::RequestsReported { reports });
    events
}
