//! Finds events by their words, in one session or in all of them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use rusqlite::{OptionalExtension, params};

use super::error::{SqliteResultExt, StoreError};
use super::event_id;
use super::lineage::LineagePart;
use super::reader::StoreReader;
use super::session_table::to_unsigned;
use super::store_types::JournalRow;
use planwright_model::{Seq, SessionId};

const SEARCHING: &str = "searching the sessions";

/// How many candidate rows are read before a search stops looking for more.
const MOST_CANDIDATES: usize = 200_000;

/// A word search. Words are compared case-insensitively; the last one may be a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordQuery {
    pub words: Vec<String>,
    /// Limits the search to this session.
    pub session: Option<SessionId>,
}

impl WordQuery {
    /// Splits the user's input into words.
    pub fn parse(text: &str) -> Self {
        Self { words: split_words(text).map(str::to_lowercase).collect(), session: None }
    }

    /// Whether a text contains all the words.
    pub fn matches(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let mut rest = self.words.iter().peekable();
        while let Some(word) = rest.next() {
            let last = rest.peek().is_none();
            let same = |token: &str| token == word || (last && token.starts_with(word.as_str()));
            if !split_words(&lower).any(same) {
                return false;
            }
        }
        true
    }

    /// The query for the index: entire words, or the last one as a prefix. Words that are not indexed are checked
    /// against the text itself.
    fn index_expression(&self, exact: bool) -> Option<String> {
        let last = self.words.len().saturating_sub(1);
        let kept: Vec<String> = self
            .words
            .iter()
            .enumerate()
            .filter(|(_, word)| is_indexable(word))
            .map(|(index, word)| {
                format!("\"{word}\"{}", if index == last && !exact { "*" } else { "" })
            })
            .collect();
        (!kept.is_empty()).then(|| kept.join(" AND "))
    }
}

/// The words of a text that are indexed. Hashes, addresses and the like would make up most of the index and are rarely
/// searched for; they are still found, by reading the events.
pub(super) fn indexable_words(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut words: Vec<&str> = split_words(&lower).filter(|word| is_indexable(word)).collect();
    words.sort_unstable();
    words.dedup();
    words.join(" ")
}

/// Whether a word is worth a place in the index.
fn is_indexable(word: &str) -> bool {
    let longest = if word.bytes().any(|byte| byte.is_ascii_digit()) { 8 } else { 32 };
    word.chars().count() <= longest
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

impl StoreReader {
    /// Visits events that may contain the words: first those that are not indexed yet, then the others, newest sessions
    /// first and newest events of each first. Among the indexed ones, exact matches come before those in which the last
    /// word is a prefix. Events a fork shares with its parent are found in the parent.
    pub fn find_events(
        &self,
        query: &WordQuery,
        mut visit: impl FnMut(&SessionId, JournalRow) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let all = query.index_expression(true).is_none();
        for (id, part) in self.unindexed_parts(query.session.as_ref(), all)? {
            if self.scan_part_backward(part, None, &mut |row| visit(&id, row))?.is_break() {
                return Ok(());
            }
        }
        // The index iterates over exact words and stops early; for prefixes it collects all matches first.
        let mut seen = HashSet::new();
        for exact in [true, false] {
            let Some(expression) = query.index_expression(exact) else { return Ok(()) };
            if self.find_indexed(query, &expression, &mut seen, &mut visit)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The parts of sessions that have to be read entirely: what is not indexed, or everything.
    fn unindexed_parts(
        &self,
        only: Option<&SessionId>,
        all: bool,
    ) -> Result<Vec<(SessionId, LineagePart)>, StoreError> {
        const SQL: &str = "SELECT id, key, max(coalesce(parent_seq, 0), iif(?2, 0, coalesce(upto, 0))) + 1, head_seq
            FROM session LEFT JOIN worded ON session = key
            WHERE visibility = 0 AND (?1 IS NULL OR id = ?1)
            AND head_seq > max(coalesce(parent_seq, 0), iif(?2, 0, coalesce(upto, 0)))
            ORDER BY max(updated_at, coalesce(opened_at, 0)) DESC, key DESC";
        let mut statement =
            self.connection.prepare_cached(SQL).during(SEARCHING, &self.database)?;
        let rows = statement
            .query_map(params![only.map(SessionId::as_str), all], |row| {
                let seq = |at| row.get(at).map(|number| Seq(to_unsigned(number)));
                let part = LineagePart { key: row.get(1)?, first: seq(2)?, last: seq(3)? };
                Ok((SessionId::new(row.get::<_, String>(0)?), part))
            })
            .during(SEARCHING, &self.database)?;
        rows.map(|row| row.during(SEARCHING, &self.database)).collect()
    }

    fn find_indexed(
        &self,
        query: &WordQuery,
        expression: &str,
        seen: &mut HashSet<i64>,
        visit: &mut impl FnMut(&SessionId, JournalRow) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        const SQL: &str = "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3
            ORDER BY rowid DESC LIMIT ?4";
        let (first, last) = match &query.session {
            Some(id) => {
                let key = super::lease::find_session_key(&self.connection, &self.database, id)?;
                event_id::id_range(key)
            }
            None => (0, i64::MAX),
        };
        let mut statement =
            self.connection.prepare_cached(SQL).during(SEARCHING, &self.database)?;
        let mut rows = statement
            .query(params![expression, first, last, MOST_CANDIDATES as i64])
            .during(SEARCHING, &self.database)?;
        let mut session: Option<(i64, Option<SessionId>)> = None;
        while let Some(row) = rows.next().during(SEARCHING, &self.database)? {
            let id: i64 = row.get(0).during(SEARCHING, &self.database)?;
            if !seen.insert(id) {
                continue;
            }
            let (key, seq) = (event_id::session_key(id), event_id::event_seq(id));
            let known = session.take().filter(|(known, _)| *known == key);
            let (_, name) = session.insert(match known {
                Some(known) => known,
                None => (key, self.visible_session_id(key)?),
            });
            let Some(name) = name else { continue };
            let part = LineagePart { key, first: seq, last: seq };
            if self.scan_part_forward(part, None, &mut |row| visit(name, row))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The id of a session that is not hidden.
    fn visible_session_id(&self, key: i64) -> Result<Option<SessionId>, StoreError> {
        self.connection
            .prepare_cached("SELECT id FROM session WHERE key = ? AND visibility = 0")
            .and_then(|mut statement| {
                statement.query_row([key], |row| row.get::<_, String>(0)).optional()
            })
            .during(SEARCHING, &self.database)
            .map(|id| id.map(SessionId::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_case_insensitively_and_the_last_may_be_a_prefix() {
        let query = WordQuery::parse("Build  fail");
        assert!(query.matches("the build has FAILED"));
        assert!(!query.matches("the builder failed"), "only the last word may be cut");
        assert!(!query.matches("the build went well"));
        assert!(WordQuery::parse("").matches("anything"));
        assert!(WordQuery::parse("größe").matches("Die GRÖSSE, die Größe"));
        assert_eq!(indexable_words("b a 9f86d081884c7d65 b v2"), "a b v2");
        assert_eq!(WordQuery::parse("9f86d081884c7d65").index_expression(false), None);
        assert_eq!(
            WordQuery::parse("sum 9f86d081884c7d65").index_expression(false).unwrap(),
            "\"sum\""
        );
    }
}
