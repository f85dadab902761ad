//! Which session contains which part of a journal: a fork reads its history from its parent, which may be a fork as
//! well.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::error::{SqliteResultExt, StoreError};
use super::session_table::to_unsigned;
use planwright_model::{Seq, SessionId};

/// A range of a journal that is stored in one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineagePart {
    pub(super) key: i64,
    pub(super) first: Seq,
    pub(super) last: Seq,
}

/// The parts of a session's journal, oldest first. Together they have no gap; empty ones are omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionLineage {
    pub(super) head: Seq,
    parts: Vec<LineagePart>,
}

impl SessionLineage {
    pub(super) fn read(
        connection: &Connection,
        database: &Path,
        id: &SessionId,
    ) -> Result<Self, StoreError> {
        let own = read_lineage_step(connection, "id = ? AND visibility < 2", id.as_str())
            .during(READING, database)?;
        let Some(own) = own else { return Err(StoreError::NoSession { session: id.clone() }) };
        let head = own.head;
        let (mut parts, mut last, mut current) = (Vec::new(), head, own);
        loop {
            let (key, first) = (current.key, current.fork_seq.next());
            if first <= last {
                parts.push(LineagePart { key, first, last });
            }
            last = last.min(current.fork_seq);
            let Some(parent) = current.parent.filter(|_| last > Seq::START) else { break };
            let Some(next) =
                read_lineage_step(connection, "key = ?", parent).during(READING, database)?
            else {
                return Err(StoreError::damaged(
                    database,
                    format!("the parent of {id} is missing"),
                ));
            };
            current = next;
        }
        parts.reverse();
        Ok(Self { head, parts })
    }

    /// The parts of `first..=last`, oldest first, each clipped to that range.
    pub(super) fn parts_within(
        &self,
        first: Seq,
        last: Seq,
    ) -> impl DoubleEndedIterator<Item = LineagePart> + '_ {
        self.parts
            .iter()
            .map(move |part| LineagePart {
                first: part.first.max(first),
                last: part.last.min(last),
                ..*part
            })
            .filter(|part| part.first <= part.last)
    }
}

const READING: &str = "reading where a session comes from";

/// The sessions that a fork goes back to, the nearest first.
pub(super) fn read_ancestors(
    connection: &Connection,
    database: &Path,
    id: &SessionId,
) -> Result<Vec<SessionId>, StoreError> {
    // The depth ends a circle, which only a damaged database has.
    let sql = "WITH RECURSIVE line (key, id, parent, depth) AS (
            SELECT key, id, parent, 0 FROM session WHERE id = ?
            UNION ALL
            SELECT above.key, above.id, above.parent, depth + 1
            FROM session AS above JOIN line ON above.key = line.parent WHERE depth < 1000
        ) SELECT id FROM line WHERE depth > 0 ORDER BY depth";
    let read = || -> rusqlite::Result<Vec<String>> {
        connection.prepare_cached(sql)?.query_map([id.as_str()], |row| row.get(0))?.collect()
    };
    Ok(read().during(READING, database)?.into_iter().map(SessionId::new).collect())
}

struct LineageStep {
    key: i64,
    head: Seq,
    parent: Option<i64>,
    fork_seq: Seq,
}

fn read_lineage_step(
    connection: &Connection,
    condition: &str,
    parameter: impl rusqlite::ToSql,
) -> rusqlite::Result<Option<LineageStep>> {
    let sql = format!(
        "SELECT key, head_seq, parent, coalesce(parent_seq, 0) FROM session WHERE {condition}"
    );
    connection
        .prepare_cached(&sql)?
        .query_row([parameter], |row| {
            Ok(LineageStep {
                key: row.get(0)?,
                head: Seq(to_unsigned(row.get(1)?)),
                parent: row.get(2)?,
                fork_seq: Seq(to_unsigned(row.get(3)?)),
            })
        })
        .optional()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_split_into_the_parts_that_contain_it() {
        let part = |key, first, last| LineagePart { key, first: Seq(first), last: Seq(last) };
        let lineage = SessionLineage {
            head: Seq(30),
            parts: vec![part(1, 1, 10), part(2, 11, 20), part(3, 21, 30)],
        };
        let within = |first, last| lineage.parts_within(Seq(first), Seq(last)).collect::<Vec<_>>();
        assert_eq!(within(5, 12), [part(1, 5, 10), part(2, 11, 12)]);
        assert_eq!(within(21, 99), [part(3, 21, 30)]);
        assert_eq!(within(31, 99), []);
    }
}
