//! Change requests that can be parsed without a model: adding, removing, naming, splitting, merging and moving tasks, their
//! time, dates and people, the hours and dates of the plan, and whether it should be leaner or more thorough.
//!
//! The grammar is listed in the files below. Nothing is guessed: a clause with an ambiguous node, an impossible date or an
//! unknown word stays open, as typed, with the reason where one is known. [`apply_change_request`] makes the changes and
//! reports what each of them did.

mod additions;
mod amounts;
mod apply;
mod approach;
mod assignments;
mod budget;
mod buffer;
mod clauses;
mod context_change;
mod dates;
mod days_off;
mod edits;
mod estimates;
mod limits;
mod moves;
mod node_finder;
mod open_reason;
mod order;
mod parts;
mod people;
mod phrase;
mod position;
mod remarks;
mod restatement;
mod stated_hours;
mod stems;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;

use jiff::ToSpan as _;
use jiff::civil::Date;

pub(crate) use amounts::parse_first_day;
pub use apply::{MadeChange, RequestOutcome, apply_change_request};
pub use context_change::{ContextChange, DayPart, apply_context_change, has_same_limits};
pub use open_reason::OpenReason;
pub use restatement::GoalRestatement;
pub(crate) use stems::stem_word as stem_goal_word;

use crate::kind_words::BUILT_IN;
use crate::offline::blueprint::Blueprint;
use crate::offline::goal::CalendarRegion;
use crate::offline::{Goal, GoalParseContext, PlanApproach};
use node_finder::NodeFinder;
use planwright_model::{PlanContext, PlanEdit, PlanOutline, Roadmap, TaskId};

/// The plan that a change request is about, and what surrounds it.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRequestSource<'a> {
    pub outline: &'a PlanOutline,
    pub roadmap: Option<&'a Roadmap>,
    /// The last day that anything is planned on.
    pub planned_end: Option<Date>,
    /// The nodes that "this", "it" or a missing name refers to.
    pub marked: &'a [TaskId],
    pub today: Date,
}

/// The parsed content of a change request: its clauses, in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedChangeRequest {
    pub clauses: Vec<RequestClause>,
}

/// One clause of a change request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestClause {
    /// As typed.
    pub text: String,
    pub change: RequestedChange,
}

/// What a clause asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedChange {
    /// Changes to nodes and links, all of them or none.
    Edits(Vec<PlanEdit>),
    /// Changes to hours, dates and people.
    Context(Vec<ContextChange>),
    /// The option that the plan should follow.
    Approach(PlanApproach),
    /// A fact of the goal in other words; what the plan makes of it follows.
    Restatement(GoalRestatement),
    /// Another kind of plan; the words of the clause name it.
    Kind,
    /// The last change is undone.
    Undo,
    /// It stays open, with the reason if its form is known.
    Open(Option<OpenReason>),
}

impl ParsedChangeRequest {
    /// Changes to nodes and links, in the order in which they were requested.
    pub fn edits(&self) -> impl Iterator<Item = &PlanEdit> {
        self.clauses.iter().flat_map(|clause| match &clause.change {
            RequestedChange::Edits(edits) => edits.as_slice(),
            _ => &[],
        })
    }

    /// Changes to hours, dates and people, in the order in which they were requested.
    pub fn context_changes(&self) -> impl Iterator<Item = &ContextChange> {
        self.clauses.iter().flat_map(|clause| match &clause.change {
            RequestedChange::Context(changes) => changes.as_slice(),
            _ => &[],
        })
    }

    /// Facts of the goal in other words.
    pub fn restatements(&self) -> impl Iterator<Item = &GoalRestatement> {
        self.clauses.iter().filter_map(|clause| match &clause.change {
            RequestedChange::Restatement(restated) => Some(restated),
            _ => None,
        })
    }

    /// The clauses that stay open.
    pub fn open_clauses(&self) -> impl Iterator<Item = (&str, Option<&OpenReason>)> {
        self.clauses.iter().filter_map(|clause| match &clause.change {
            RequestedChange::Open(why) => Some((clause.text.as_str(), why.as_ref())),
            _ => None,
        })
    }

    /// The words that ask for another kind of plan.
    pub fn kind_words(&self) -> Option<&str> {
        let named = |clause: &&RequestClause| clause.change == RequestedChange::Kind;
        self.clauses.iter().find(named).map(|clause| clause.text.as_str())
    }

    /// Whether the last change is to be undone.
    pub fn asks_undo(&self) -> bool {
        self.clauses.iter().any(|clause| clause.change == RequestedChange::Undo)
    }

    /// Whether it asks for nothing else than to undo the last change.
    pub fn is_only_undo(&self) -> bool {
        let undoes = |clause: &RequestClause| clause.change == RequestedChange::Undo;
        !self.clauses.is_empty() && self.clauses.iter().all(undoes)
    }
}

/// The plan and date that a clause refers to.
struct ClauseContext<'a> {
    finder: NodeFinder<'a>,
    today: Date,
    working_days: u32,
    /// What the person works on the plan in a week.
    weekly_minutes: u32,
    limits: &'a PlanContext,
    planned_end: Option<Date>,
    roadmap: Option<&'a Roadmap>,
    /// The goal, parsed when a clause may be about it.
    parsed_goal: OnceCell<Goal>,
}

impl<'a> ClauseContext<'a> {
    fn new(source: &ChangeRequestSource<'a>) -> Self {
        let ChangeRequestSource { outline, roadmap, planned_end, marked, today } = *source;
        let nodes = roadmap.map_or(&outline.nodes, |roadmap| &roadmap.nodes);
        let limits = &outline.plan_context;
        let hours = limits.calendar.working.values();
        let weekly = limits.constraints.weekly_minutes;
        Self {
            finder: NodeFinder::new(nodes, &outline.root_id, marked),
            today,
            working_days: hours.filter(|hours| !hours.is_empty()).count() as u32,
            weekly_minutes: weekly.unwrap_or_else(|| limits.calendar.weekly_minutes()).max(15),
            limits,
            planned_end,
            roadmap,
            parsed_goal: OnceCell::new(),
        }
    }

    /// Returns what the goal of the plan states.
    fn goal(&self) -> &Goal {
        self.parsed_goal.get_or_init(|| self.parse_goal(&self.limits.goal_text))
    }

    fn parse_goal(&self, text: &str) -> Goal {
        let days = u16::try_from(self.working_days).unwrap_or(7).max(1);
        let region = CalendarRegion::from_calendar(&self.limits.calendar);
        Goal::parse(text, GoalParseContext::new(self.today, days).in_region(region))
    }

    /// Returns the built-in kind of the plan.
    fn blueprint(&self) -> Option<&'static Blueprint> {
        BUILT_IN.find_blueprint(self.limits.pattern.as_ref()?)
    }

    /// Returns whether a word names the thing that the plan is about: "offsite", "wedding".
    fn is_event_noun(&self, word: &str) -> bool {
        let noun = self.blueprint().and_then(|kind| kind.noun.as_ref());
        let last = noun.and_then(|noun| noun.get_ref().rsplit(' ').next());
        last.is_some_and(|noun| noun.eq_ignore_ascii_case(word))
    }

    /// Returns the end that an earlier or later one is counted from: the planned one if it is earlier, the allowed one if
    /// it is later.
    fn current_end(&self, sign: i64) -> Option<Date> {
        let limits = &self.limits.constraints;
        let by_weeks = limits
            .horizon_weeks
            .and_then(|weeks| limits.start.checked_add((i64::from(weeks) * 7 - 1).days()).ok());
        let deadline = limits.deadline.map(planwright_model::OffsetDateTime::local_date);
        let ends = deadline.or(by_weeks).into_iter().chain(self.planned_end);
        if sign < 0 { ends.min() } else { ends.max() }
    }
}

/// Parses a change request.
pub fn parse_change_request(text: &str, source: &ChangeRequestSource<'_>) -> ParsedChangeRequest {
    let context = ClauseContext::new(source);
    let sentences = phrase::split_sentences(text).into_iter();
    ParsedChangeRequest {
        clauses: sentences.flat_map(|text| context.split_clauses(text)).collect(),
    }
}

/// Returns whether a text only asks to undo the last change.
pub fn is_undo_request(text: &str) -> bool {
    remarks::is_undo(phrase::strip_politeness(text))
}

/// Returns whether a part of a text asks to undo the last change.
pub fn contains_undo_request(text: &str) -> bool {
    let pieces = |sentence| {
        let ranges = phrase::split_pieces(sentence).into_iter();
        ranges.map(move |range| &sentence[range]).collect::<Vec<&str>>()
    };
    phrase::split_sentences(text).into_iter().flat_map(pieces).any(is_undo_request)
}

/// Parses times of the week at which work may happen, joined by commas or "but": "evenings, but never on Fridays".
/// `None` unless every part is one.
pub fn parse_working_times(text: &str, today: Date) -> Option<Vec<ContextChange>> {
    let lower = text.to_lowercase().replace(" but ", ", ").replace(';', ",");
    let mut changes: Vec<ContextChange> = Vec::new();
    for part in lower.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let part = part.strip_prefix("but ").unwrap_or(part);
        let words: Vec<&str> = part.split(' ').filter(|word| !word.is_empty()).collect();
        let slots = crate::working_slots::read_slots(&words)
            .filter(|found| found.words == words.len())
            .map(|found| ContextChange::OnlyAt(found.slots));
        changes.push(slots.or_else(|| limits::parse_times(part, today))?);
    }
    (!changes.is_empty()).then_some(changes)
}

/// Reads how long something takes: `4h`, `1 h 30 min`, `half a day`.
pub fn read_minutes(text: &str) -> Option<u32> {
    amounts::parse_minutes(text.trim())
}

/// Reads a day: `next Tue`, `5 Dec`, `tomorrow`.
pub fn read_day(text: &str, today: Date) -> Option<Date> {
    let whole = |word: &str| match word.to_lowercase().as_str() {
        "mon" => "Monday".to_owned(),
        "tue" | "tues" => "Tuesday".to_owned(),
        "wed" => "Wednesday".to_owned(),
        "thu" | "thur" | "thurs" => "Thursday".to_owned(),
        "fri" => "Friday".to_owned(),
        "sat" => "Saturday".to_owned(),
        "sun" => "Sunday".to_owned(),
        _ => word.to_owned(),
    };
    let words: Vec<String> = text.split_whitespace().map(whole).collect();
    amounts::parse_first_day(&words.join(" "), today)
}
