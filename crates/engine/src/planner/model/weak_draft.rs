//! What a weak model leaves out or overstates in a draft, put right by rules: stated days, doers, criteria, and what became of
//! change requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::super::roadmap::update_derived_fields;
use super::super::{Planner, preservation};
use planwright_drafting::change_requests::{
    ChangeRequestSource, RequestedChange, parse_change_request,
};
use planwright_model::agent_conversation::{ReportedOutcome, RequestReport};
use planwright_model::event::PlanningEvent;
use planwright_model::{
    AdaptationLogEntry, FactReading, FactSubject, NodeType, PlanDate, PlanNode, PlanOutline,
    Roadmap, RunKind, Stage, TaskId,
};
use planwright_plan::grammar::repair_stage;
use planwright_state::{FactSlice, PlanningSlice};
use planwright_text::units;

/// Kinds of plans whose tasks an agent in a workspace can do.
const AGENT_FAMILIES: [&str; 6] =
    ["data", "docs", "infrastructure", "migration", "security", "software"];

impl Planner {
    /// Whether the rules read every clause of the change requests as an edit. Then no weak model has to guess what is meant.
    pub(super) fn reads_all_requests(
        &self,
        talk: &PlanningSlice,
        before: &PlanOutline,
        now: Timestamp,
    ) -> bool {
        talk.change_requests.iter().all(|request| {
            let source = ChangeRequestSource {
                outline: before,
                roadmap: talk.roadmap.as_deref(),
                planned_end: super::super::requested_changes::planned_end(talk),
                marked: &request.nodes,
                today: self.local_date(now),
            };
            let parsed = parse_change_request(&request.text, &source);
            let is_edit = |change: &RequestedChange| {
                matches!(change, RequestedChange::Edits(_) | RequestedChange::Context(_))
            };
            !parsed.clauses.is_empty()
                && parsed.clauses.iter().all(|clause| is_edit(&clause.change))
        })
    }

    /// Corrects a weak model's outline before it is judged.
    pub(super) fn correct_weak_outline(
        &self,
        talk: &PlanningSlice,
        outline: &mut PlanOutline,
        now: Timestamp,
    ) {
        if !self.suits_agents(talk, now) {
            give_to_person(outline);
        }
        drop_empty_criteria(outline);
        pin_stated_day(outline, &talk.facts);
    }

    /// Puts right by rule what a weak model cannot say or leaves out, such as the finish, so that no try is spent on it.
    /// Returns what was changed.
    pub(super) fn repair_weak_outline(
        &self,
        talk: &PlanningSlice,
        outline: &mut PlanOutline,
        now: Timestamp,
    ) -> Vec<AdaptationLogEntry> {
        let drafted = PlanningSlice {
            outline: Some(Arc::new(outline.clone())),
            roadmap: None,
            schedule: None,
            ..talk.clone()
        };
        let Some(mut plan) = self.plan_artifacts(&drafted) else { return Vec::new() };
        let log = repair_stage(&mut plan, Stage::Outline, now);
        if let Some(before) = talk.outline.as_deref() {
            preservation::restore_locked_nodes(before, &mut plan.outline, &talk.locked);
        }
        *outline = plan.outline;
        log
    }

    /// Puts right by rule what a weak model broke in the roadmap, such as links in a circle. Returns what was changed.
    pub(super) fn repair_weak_roadmap(
        &self,
        talk: &PlanningSlice,
        roadmap: Roadmap,
        now: Timestamp,
    ) -> (Roadmap, Vec<AdaptationLogEntry>) {
        let drafted = PlanningSlice {
            roadmap: Some(Arc::new(roadmap.clone())),
            schedule: None,
            ..talk.clone()
        };
        let Some(mut plan) = self.plan_artifacts(&drafted) else { return (roadmap, Vec::new()) };
        let log = repair_stage(&mut plan, Stage::Roadmap, now);
        let mut repaired = plan.roadmap.unwrap_or(roadmap);
        update_derived_fields(&mut repaired);
        (repaired, log)
    }

    /// Whether the goal is of a kind that agents work on: somebody's birthday is not.
    fn suits_agents(&self, talk: &PlanningSlice, now: Timestamp) -> bool {
        let pick = self.pick_kind(talk, now);
        let best = pick.best().and_then(|best| self.library.named_blueprint(best.name()));
        best.is_some_and(|file| AGENT_FAMILIES.contains(&file.family.as_str()))
    }
}

fn give_to_person(outline: &mut PlanOutline) {
    for node in &mut outline.nodes {
        if matches!(node.run, Some(RunKind::Agent(_))) {
            node.run = None;
        }
    }
}

/// A date says when a task is done, not when it counts as done, and "done" says nothing. Dates follow from the schedule.
fn drop_empty_criteria(outline: &mut PlanOutline) {
    for node in &mut outline.nodes {
        let text = node.done_when.trim().trim_end_matches('.').to_lowercase();
        let is_date = text.parse::<Date>().is_ok() || text.parse::<DateTime>().is_ok();
        if is_date
            || is_date_in_words(&text)
            || text.starts_with("by ")
            || ["done", "completed", "finished"].contains(&&*text)
        {
            node.done_when.clear();
        }
    }
}

/// Whether a text in lower case says a day and nothing else: "friday 27 november 2026", "on the 3rd of may".
fn is_date_in_words(text: &str) -> bool {
    const DAYS_AND_MONTHS: [&str; 19] = [
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
        "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    const FULL: [&str; 19] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let names_day = |word: &str| DAYS_AND_MONTHS.contains(&word) || FULL.contains(&word);
    let is_number = |word: &str| {
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end));
        let digits = digits.unwrap_or(word);
        digits.len() <= 4 && !digits.is_empty() && digits.chars().all(|one| one.is_ascii_digit())
    };
    let joins = ["on", "the", "of", "until", "before"];
    let words: Vec<&str> =
        text.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.iter().any(|word| names_day(word))
        && words.iter().all(|word| names_day(word) || is_number(word) || joins.contains(word))
}

/// The day or window that the goal states for the thing itself belongs to the task in which it happens: the last one of the
/// plan.
fn pin_stated_day(outline: &mut PlanOutline, facts: &FactSlice) {
    let stated = facts.active().find_map(|fact| match fact.reading {
        Some(FactReading::FixedDate { subject: FactSubject::Plan, on }) => Some((on, on)),
        Some(FactReading::Window { subject: FactSubject::Plan, from, to }) => Some((from, to)),
        _ => None,
    });
    let Some((from, to)) = stated else { return };
    let tree = outline.node_tree();
    let leaves = tree.leaves(&outline.root_id);
    if leaves.iter().any(|leaf| is_dated(leaf)) {
        return;
    }
    let happens = leaves.iter().rev().find(|leaf| !leaf.milestone && leaf.recurrence.is_none());
    let Some(id) = happens.map(|leaf| leaf.id.clone()) else { return };
    let Some(node) = outline.nodes.iter_mut().find(|node| node.id == id) else { return };
    if from == to {
        node.fixed_start = Some(PlanDate::on_day(from));
    } else {
        node.not_before = Some(PlanDate::on_day(from));
        node.due = Some(PlanDate::on_day(to));
    }
}

fn is_dated(leaf: &PlanNode) -> bool {
    leaf.fixed_start.is_some() || leaf.fixed_end.is_some() || leaf.due.is_some()
}

/// Reports on change requests that a weak model redrafted. It says nothing about what it did, so none of them is called met.
pub(super) fn redraft_events(
    talk: &PlanningSlice,
    before: &PlanOutline,
    after: &PlanOutline,
) -> Vec<PlanningEvent> {
    let nodes: Vec<TaskId> = changed_rows(before, after).into_iter().collect();
    let (outcome, words) = if nodes.is_empty() {
        (ReportedOutcome::Not, "the model changed nothing".to_owned())
    } else {
        let rows = units::format_counted(nodes.len(), "row");
        (ReportedOutcome::Partly, format!("the model changed {rows}; please check them"))
    };
    let report = |text: &str| RequestReport {
        request: text.to_owned(),
        outcome,
        nodes: nodes.clone(),
        words: words.clone(),
        objection: None,
    };
    let reports = talk.change_requests.iter().map(|request| report(&request.text)).collect();
    super::super::conversation::report_events(talk, reports)
}

/// Nodes whose words, time, doer or dates differ, new and removed ones included. Milestones and empty
/// phases are the rules' own.
fn changed_rows(before: &PlanOutline, after: &PlanOutline) -> BTreeSet<TaskId> {
    let fields = |node: &PlanNode| {
        let times = (node.estimate_minutes, node.fixed_start, node.due, node.not_before);
        (node.title.clone(), node.done_when.clone(), node.run.clone(), node.owner.clone(), times)
    };
    let differs = |node: &PlanNode, other: &PlanOutline| {
        other.find_node(&node.id).is_none_or(|old| fields(old) != fields(node))
    };
    let new = after.nodes.iter().filter(|node| differs(node, before));
    let gone = before
        .nodes
        .iter()
        .filter(|node| node.node_type == NodeType::Task && after.find_node(&node.id).is_none());
    new.chain(gone).filter(|node| !node.milestone).map(|node| node.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_in_words_is_no_criterion() {
        for day in ["friday 27 november 2026", "on the 3rd of may", "sat, 5 dec", "march 2027"] {
            assert!(is_date_in_words(day), "{day}");
        }
        for criterion in ["27", "the 3 bugs are fixed", "tested on friday", "may be merged", ""] {
            assert!(!is_date_in_words(criterion), "{criterion}");
        }
    }
}
