//! Splits a sentence into clauses and reads each: a comma or an "and" may separate two requests or belong to a title.

use std::ops::Range;

use super::open_reason::{ClauseReading, first_reading};
use super::{ClauseContext, ContextChange, RequestClause, RequestedChange};
use super::{approach, edits, limits, people, phrase, remarks, restatement};
use crate::kind_words;

/// The most pieces of one sentence that are tried in every grouping, and of one clause.
const MAX_PIECES: usize = 24;
const MAX_CLAUSE_PIECES: usize = 8;

/// The best reading of the start of a sentence: open clauses, those among them without a reason, and the number of
/// clauses subtracted from the largest number, so that more clauses count as less. Then where its last clause starts.
type SplitCost = (usize, usize, usize, usize);

impl ClauseContext<'_> {
    fn parse_clause(&self, text: &str) -> ClauseReading<RequestedChange> {
        let text = phrase::strip_politeness(text);
        if remarks::is_undo(text) {
            return Some(Ok(RequestedChange::Undo));
        }
        if let Some(why) = remarks::parse_detail(self, text) {
            return Some(Err(why));
        }
        if let Some(restated) = restatement::parse_restatement(self, text) {
            return Some(Ok(RequestedChange::Restatement(restated)));
        }
        let people = people::parse_people(text).map(|people| Ok(RequestedChange::Context(people)));
        let done = remarks::parse_done(self, text).map(|done| done.map(RequestedChange::Edits));
        let limits = limits::parse_limits(self, text);
        let limits = limits.map(|limits| limits.map(RequestedChange::Context));
        let edits = edits::parse_edits(self, text).map(|edits| edits.map(RequestedChange::Edits));
        // If nodes are marked, "it" refers to those, not to the plan.
        let approach = approach::parse_approach(text)
            .filter(|_| !self.finder.has_marked_nodes())
            .map(|approach| Ok(RequestedChange::Approach(approach)));
        let kind = kind_words::names_only_kind(text).then_some(Ok(RequestedChange::Kind));
        first_reading([people, limits, approach, edits, done, kind])
    }

    /// Splits a sentence so that the fewest clauses stay open, and among those so that the most requests are read.
    pub(super) fn split_clauses(&self, sentence: &str) -> Vec<RequestClause> {
        let pieces = phrase::split_pieces(sentence);
        if pieces.len() > MAX_PIECES {
            return self.read_whole(sentence).into_iter().collect();
        }
        let readings = self.read_spans(sentence, &pieces);
        let begins: Vec<bool> =
            pieces.iter().map(|piece| begins_request(&sentence[piece.clone()])).collect();
        let spans = join_hours(best_split(&readings, &begins), &readings);
        let mut clauses: Vec<RequestClause> = Vec::new();
        let mut open_from: Option<usize> = None;
        for span in spans {
            let text = &sentence[pieces[span.start].start..pieces[span.end - 1].end];
            match readings[span.start][span.end - span.start - 1].clone() {
                // Adjacent pieces that nothing is known about are one remark.
                None if open_from.is_some() => {
                    let from = open_from.unwrap_or(pieces[span.start].start);
                    let whole = sentence[from..pieces[span.end - 1].end].trim();
                    if let Some(last) = clauses.last_mut() {
                        whole.clone_into(&mut last.text);
                    }
                }
                reading => {
                    open_from = reading.is_none().then(|| pieces[span.start].start);
                    clauses.push(RequestClause {
                        text: text.trim().to_owned(),
                        change: into_change(reading),
                    });
                }
            }
        }
        clauses.retain(has_words);
        clauses
    }

    fn read_whole(&self, sentence: &str) -> Option<RequestClause> {
        let change = into_change(self.parse_clause(sentence));
        Some(RequestClause { text: sentence.trim().to_owned(), change }).filter(has_words)
    }

    /// Reads every span of pieces that may be a clause, by its start and its length.
    fn read_spans(
        &self,
        sentence: &str,
        pieces: &[Range<usize>],
    ) -> Vec<Vec<ClauseReading<RequestedChange>>> {
        let read = |start: usize, end: usize| {
            self.parse_clause(&sentence[pieces[start].start..pieces[end].end])
        };
        (0..pieces.len())
            .map(|start| {
                let last = pieces.len().min(start + MAX_CLAUSE_PIECES);
                (start..last).map(|end| read(start, end)).collect()
            })
            .collect()
    }
}

fn has_words(clause: &RequestClause) -> bool {
    clause.text.chars().any(char::is_alphanumeric)
}

fn into_change(reading: ClauseReading<RequestedChange>) -> RequestedChange {
    match reading {
        Some(Ok(change)) => change,
        Some(Err(why)) => RequestedChange::Open(Some(why)),
        None => RequestedChange::Open(None),
    }
}

/// Hours that follow somebody's name are theirs: "Anna helps me, 10 hours a week".
fn join_hours(
    spans: Vec<Range<usize>>,
    readings: &[Vec<ClauseReading<RequestedChange>>],
) -> Vec<Range<usize>> {
    let context = |span: &Range<usize>| match readings[span.start].get(span.end - span.start - 1) {
        Some(Some(Ok(RequestedChange::Context(changes)))) => changes.first(),
        _ => None,
    };
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        let before = joined.last().cloned();
        let both = before.map(|before| before.start..span.end).filter(|both| {
            let first = joined.last().and_then(context);
            matches!(first, Some(ContextChange::Person { weekly_minutes: None, .. }))
                && matches!(context(&span), Some(ContextChange::WeeklyMinutes(_)))
                && matches!(context(both), Some(ContextChange::Person { .. }))
        });
        match both {
            Some(both) => {
                joined.pop();
                joined.push(both);
            }
            None => joined.push(span),
        }
    }
    joined
}

/// Whether a piece begins as a request of its own does.
fn begins_request(piece: &str) -> bool {
    const VERBS: [&str; 23] = [
        "add", "call", "cut", "delete", "double", "drop", "finish", "give", "halve", "include",
        "keep", "make", "merge", "move", "postpone", "put", "remove", "rename", "shorten", "skip",
        "split", "start", "swap",
    ];
    let first = piece.split_whitespace().next().unwrap_or_default().to_lowercase();
    VERBS.contains(&first.as_str())
}

/// Finds the spans of the best split, in order.
fn best_split(
    readings: &[Vec<ClauseReading<RequestedChange>>],
    begins: &[bool],
) -> Vec<Range<usize>> {
    let count = begins.len();
    let alone = |at: usize| readings[at].first().is_some_and(Option::is_some);
    let mut best: Vec<SplitCost> = vec![(0, 0, usize::MAX, 0)];
    for end in 1..=count {
        let mut found: Option<SplitCost> = None;
        for start in end.saturating_sub(MAX_CLAUSE_PIECES)..end {
            let before = best[start];
            let candidate = match &readings[start][end - start - 1] {
                Some(Ok(_)) => (before.0, before.1, before.2 - 1, start),
                // Pieces that could each be a request are not one that failed, and neither are those that begin as one
                // does: "drop the survey, and make it more fun" asks for two things.
                Some(Err(_)) => {
                    let is_several = (start + 1..end).any(|at| begins[at]);
                    let requests = if is_several {
                        end - start
                    } else {
                        (start..end).filter(|at| alone(*at)).count().max(1)
                    };
                    (before.0 + requests, before.1, before.2 - 1, start)
                }
                None if end - start == 1 => (before.0 + 1, before.1 + 1, before.2, start),
                None => continue,
            };
            found = Some(found.map_or(candidate, |found| found.min(candidate)));
        }
        best.push(found.unwrap_or((end, end, usize::MAX, end - 1)));
    }
    let mut spans = Vec::new();
    let mut end = count;
    while end > 0 {
        let start = best[end].3;
        spans.push(start..end);
        end = start;
    }
    spans.reverse();
    spans
}
