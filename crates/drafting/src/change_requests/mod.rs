//! Change requests that can be parsed without a model: estimates, names, owners, removing, adding, moving, hours, dates, order,
//! and whether the plan should be leaner or more thorough.
//!
//! The grammar is small and listed in the files below. Nothing is guessed: a clause with an ambiguous node, an
//! impossible date or an unknown word is kept in [`ParsedChangeRequest::unread`], as typed.

mod amounts;
mod approach;
mod assignments;
mod context_change;
mod edits;
mod limits;
mod node_finder;
mod phrase;
mod position;
#[cfg(test)]
mod tests;

use jiff::civil::Date;

pub(crate) use amounts::parse_first_day;
pub use context_change::{ContextChange, DayPart, apply_context_change};

use crate::offline::PlanApproach;
use node_finder::NodeFinder;
use planwright_model::{PlanEdit, PlanOutline, Roadmap, TaskId};

/// The parsed content of a change request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedChangeRequest {
    /// Changes to nodes and links, in the order in which they were requested.
    pub edits: Vec<PlanEdit>,
    /// Changes to hours and dates.
    pub context: Vec<ContextChange>,
    /// The option that the plan should follow, and the words that request it.
    pub approach: Option<(PlanApproach, String)>,
    /// The text that could not be parsed, as typed.
    pub unread: Vec<String>,
}

/// The content of one clause.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ClauseChange {
    Edits(Vec<PlanEdit>),
    Context(Vec<ContextChange>),
    Approach(PlanApproach),
}

/// The plan and date that a clause refers to.
struct ClauseContext<'a> {
    finder: NodeFinder<'a>,
    today: Date,
    working_days: u32,
    roadmap: Option<&'a Roadmap>,
}

/// Parses a change request. `marked` are the nodes that "this", "it" or a missing name refers to.
pub fn parse_change_request(
    text: &str,
    outline: &PlanOutline,
    roadmap: Option<&Roadmap>,
    marked: &[TaskId],
    today: Date,
) -> ParsedChangeRequest {
    let nodes = roadmap.map_or(&outline.nodes, |roadmap| &roadmap.nodes);
    let hours = outline.plan_context.calendar.working.values();
    let context = ClauseContext {
        finder: NodeFinder::new(nodes, &outline.root_id, marked),
        today,
        working_days: hours.filter(|hours| !hours.is_empty()).count() as u32,
        roadmap,
    };
    let mut reading = ParsedChangeRequest::default();
    for sentence in phrase::split_sentences(text) {
        for (clause, change) in context.split_clauses(sentence) {
            match change {
                Some(ClauseChange::Edits(edits)) => reading.edits.extend(edits),
                Some(ClauseChange::Context(changes)) => reading.context.extend(changes),
                Some(ClauseChange::Approach(approach)) => {
                    reading.approach = Some((approach, clause.trim().to_owned()));
                }
                None => reading.unread.push(clause.to_owned()),
            }
        }
    }
    reading
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

/// The maximum number of pieces of one sentence that are tried in every grouping.
const MAX_PIECES: usize = 24;

impl ClauseContext<'_> {
    fn parse_clause(&self, text: &str) -> Option<ClauseChange> {
        let text = phrase::strip_politeness(text);
        limits::parse_limits(self, text)
            .map(ClauseChange::Context)
            .or_else(|| edits::parse_edits(self, text).map(ClauseChange::Edits))
            // If nodes are marked, "it" refers to those, not to the plan.
            .or_else(|| {
                approach::parse_approach(text)
                    .filter(|_| !self.finder.has_marked_nodes())
                    .map(ClauseChange::Approach)
            })
    }

    /// Splits a sentence so that the fewest pieces stay unread, and among those so that the most requests are read: a
    /// comma or an "and" may separate two requests or belong to a title.
    fn split_clauses<'t>(&self, sentence: &'t str) -> Vec<(&'t str, Option<ClauseChange>)> {
        let pieces = phrase::split_pieces(sentence);
        if pieces.len() > MAX_PIECES {
            return vec![(sentence.trim(), self.parse_clause(sentence))];
        }
        // For each end the best parse of everything before it: unread pieces, minus clauses, start of the last clause.
        let mut best: Vec<(usize, usize, usize)> = vec![(0, usize::MAX, 0)];
        for end in 1..=pieces.len() {
            let mut found = (best[end - 1].0 + 1, best[end - 1].1, end - 1);
            for start in 0..end {
                let text = &sentence[pieces[start].start..pieces[end - 1].end];
                if self.parse_clause(text).is_some() {
                    let candidate = (best[start].0, best[start].1 - 1, start);
                    found = found.min(candidate);
                }
            }
            best.push(found);
        }
        let mut end = pieces.len();
        let mut clauses: Vec<(&str, Option<ClauseChange>)> = Vec::new();
        let mut unread: Option<(usize, usize)> = None;
        while end > 0 {
            let start = best[end].2;
            let text = &sentence[pieces[start].start..pieces[end - 1].end];
            if let Some(change) = self.parse_clause(text).filter(|_| best[end].0 == best[start].0) {
                let skipped = unread.take().map(|(from, to)| (sentence[from..to].trim(), None));
                clauses.extend(skipped);
                clauses.push((text, Some(change)));
            } else {
                // Adjacent unread pieces form one remark.
                let to = unread.map_or(pieces[end - 1].end, |(_, to)| to);
                unread = Some((pieces[start].start, to));
            }
            end = start;
        }
        clauses.extend(unread.map(|(from, to)| (sentence[from..to].trim(), None)));
        clauses.reverse();
        clauses
            .retain(|(text, change)| change.is_some() || text.chars().any(char::is_alphanumeric));
        clauses
    }
}
