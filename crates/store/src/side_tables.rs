//! Data stored next to the journal: memory, tool statistics, approvals of foreign tools, full outputs, to-do lists.
//!
//! A [`SideWrite`] may be part of a batch, and is then committed with its rows or not at all.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::codec::{PayloadDecoder, PayloadEncoder};
use super::error::{SqliteResultExt, StoreError};
use super::plan_table::PlanRow;
use super::reader::StoreReader;
use super::schema::in_write_transaction;
use super::time::{from_micros, micros_now};
use planwright_model::SessionId;

const WRITING: &str = "writing what tools keep";
const READING: &str = "reading what tools keep";

/// The scope of approved tool definitions among the outputs; no session and no workspace has this name.
const PIN_SCOPE: &str = "tool_pin";

/// How many calls of each tool are kept. Older ones no longer influence any figure.
const CALLS_KEPT: i64 = 500;

/// A write to the side tables.
#[derive(Clone, Debug, PartialEq)]
pub enum SideWrite {
    /// Replaces the text under the same key.
    Memory {
        key: Option<String>,
        text: String,
        tags: Vec<String>,
    },
    ToolCall(ToolCallRow),
    Pin {
        tool: String,
        hash: String,
        /// The full approved definition, if it is useful for later comparison.
        definition: Option<String>,
    },
    Output {
        scope: String,
        call: String,
        text: String,
    },
    Todo {
        scope: String,
        list: String,
    },
    /// An answer of the inbox was acted on.
    RemoveLetter(super::InboxKey),
    /// A version of the session's plan, for the table of plans.
    Plan {
        session: SessionId,
        plan: Box<PlanRow>,
    },
}

/// What was learned about a tool from one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCallRow {
    pub tool: String,
    pub affinity: Option<f64>,
    pub ok: bool,
    pub confidence: f64,
    pub latency_ms: f64,
    pub code: Option<String>,
}

/// A recalled memory with its score: 1 is the best hit.
#[derive(Clone, Debug, PartialEq)]
pub struct RecalledMemory {
    pub key: Option<String>,
    pub text: String,
    pub tags: Vec<String>,
    pub score: f64,
}

/// Applies the writes in a transaction of their own.
pub(super) fn write_side_data(
    connection: &Connection,
    database: &Path,
    writes: &[SideWrite],
) -> Result<(), StoreError> {
    let mut encoder = PayloadEncoder::new();
    in_write_transaction(connection, database, WRITING, |transaction| {
        writes
            .iter()
            .try_for_each(|write| apply_side_write(transaction, database, &mut encoder, write))
    })
}

/// Applies one write within the transaction of the connection.
pub(super) fn apply_side_write(
    connection: &Connection,
    database: &Path,
    encoder: &mut PayloadEncoder,
    write: &SideWrite,
) -> Result<(), StoreError> {
    let now = micros_now();
    let done = match write {
        SideWrite::Memory { key, text, tags } => connection.execute(
            "INSERT INTO memory (key, text, tags, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
             ON CONFLICT (key) DO UPDATE SET text = ?2, tags = ?3, updated_at = ?4",
            params![key, text, tags.join("\n"), now],
        ),
        SideWrite::ToolCall(row) => record_tool_call(connection, row, now),
        SideWrite::Pin { tool, hash, definition } => {
            if let Some(text) = definition {
                put_tool_output(connection, database, encoder, (PIN_SCOPE, tool), text)?;
            }
            connection.execute(
                "INSERT OR REPLACE INTO tool_pin (tool, hash, at) VALUES (?, ?, ?)",
                params![tool, hash, now],
            )
        }
        SideWrite::Output { scope, call, text } => {
            return put_tool_output(connection, database, encoder, (scope, call), text);
        }
        SideWrite::Todo { scope, list } => connection.execute(
            "INSERT OR REPLACE INTO todo_list (scope, list) VALUES (?, ?)",
            params![scope, list],
        ),
        SideWrite::RemoveLetter(key) => super::inbox::remove_letter(connection, *key),
        SideWrite::Plan { session, plan } => {
            return super::plan_table::put_plan(connection, database, session, plan);
        }
    };
    done.during(WRITING, database).map(drop)
}

fn put_tool_output(
    connection: &Connection,
    database: &Path,
    encoder: &mut PayloadEncoder,
    (scope, call): (&str, &str),
    text: &str,
) -> Result<(), StoreError> {
    let (codec, payload) = encoder
        .encode(text.as_bytes())
        .map_err(|error| StoreError::from_io("compressing for", database, error))?;
    connection
        .execute(
            "INSERT OR REPLACE INTO tool_output (scope, call, at, codec, payload) VALUES (?, ?, ?, ?, ?)",
            params![scope, call, micros_now(), codec, payload],
        )
        .during(WRITING, database)
        .map(drop)
}

fn record_tool_call(
    connection: &Connection,
    row: &ToolCallRow,
    now: i64,
) -> rusqlite::Result<usize> {
    connection.execute(
        "INSERT INTO tool_call (at, tool, affinity, ok, confidence, latency_ms, code) VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![now, row.tool, row.affinity, row.ok, row.confidence, row.latency_ms, row.code],
    )?;
    connection.execute(
        "DELETE FROM tool_call WHERE tool = ?1 AND id <=
            (SELECT id FROM tool_call WHERE tool = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        params![row.tool, CALLS_KEPT],
    )
}

impl StoreReader {
    /// The best hits for some words, best first. Nothing in the words is interpreted as an operator.
    pub fn search_memory(
        &self,
        query: &str,
        limit: usize,
    ) -> Result<Vec<RecalledMemory>, StoreError> {
        let words: Vec<String> = query
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(32)
            .map(|word| format!("\"{word}\""))
            .collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT m.key, m.text, m.tags, bm25(memory_index) FROM memory_index
                 JOIN memory m ON m.id = memory_index.rowid
                 WHERE memory_index MATCH ? ORDER BY bm25(memory_index), m.id LIMIT ?",
            )
            .during(READING, &self.database)?;
        let rows = statement
            .query_map(
                params![words.join(" OR "), i64::try_from(limit).unwrap_or(i64::MAX)],
                |row| {
                    let tags: String = row.get(2)?;
                    let tags = tags.lines().map(str::to_owned).collect();
                    // SQLite's score is negative; lower is better.
                    let score: f64 = row.get(3)?;
                    Ok(RecalledMemory { key: row.get(0)?, text: row.get(1)?, tags, score: -score })
                },
            )
            .during(READING, &self.database)?;
        let mut found: Vec<RecalledMemory> =
            rows.collect::<rusqlite::Result<_>>().during(READING, &self.database)?;
        let best = found.first().map_or(1.0, |hit| hit.score).max(f64::MIN_POSITIVE);
        for hit in &mut found {
            hit.score = (hit.score / best).clamp(0.0, 1.0);
        }
        Ok(found)
    }

    /// Returns a text by its key.
    pub fn memory_text(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.query_text("SELECT text FROM memory WHERE key = ?", key)
    }

    /// The recorded calls, oldest first.
    pub fn tool_calls(&self) -> Result<Vec<(Timestamp, ToolCallRow)>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT at, tool, affinity, ok, confidence, latency_ms, code FROM tool_call ORDER BY id")
            .during(READING, &self.database)?;
        let rows = statement
            .query_map([], |row| {
                let found = ToolCallRow {
                    tool: row.get(1)?,
                    affinity: row.get(2)?,
                    ok: row.get(3)?,
                    confidence: row.get(4)?,
                    latency_ms: row.get(5)?,
                    code: row.get(6)?,
                };
                Ok((row.get::<_, i64>(0)?, found))
            })
            .during(READING, &self.database)?;
        rows.map(|row| {
            let (at, found) = row.during(READING, &self.database)?;
            Ok((from_micros(at, &self.database)?, found))
        })
        .collect()
    }

    /// The hash of the approved definition of a foreign tool.
    pub fn tool_pin_hash(&self, tool: &str) -> Result<Option<String>, StoreError> {
        self.query_text("SELECT hash FROM tool_pin WHERE tool = ?", tool)
    }

    /// The full approved definition. The caller must check it against the hash: a program that does not know this text
    /// replaces only the hash.
    pub fn tool_pin_definition(&self, tool: &str) -> Result<Option<String>, StoreError> {
        self.tool_output(PIN_SCOPE, tool)
    }

    pub fn todo_list(&self, scope: &str) -> Result<Option<String>, StoreError> {
        self.query_text("SELECT list FROM todo_list WHERE scope = ?", scope)
    }

    fn query_text(&self, sql: &str, parameter: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([parameter], |row| row.get(0)).optional())
            .during(READING, &self.database)
    }

    /// The full output of a call.
    pub fn tool_output(&self, scope: &str, call: &str) -> Result<Option<String>, StoreError> {
        let found: Option<(i64, Vec<u8>)> = self
            .connection
            .prepare_cached("SELECT codec, payload FROM tool_output WHERE scope = ? AND call = ?")
            .and_then(|mut statement| {
                statement.query_row([scope, call], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .during(READING, &self.database)?;
        let Some((codec, payload)) = found else { return Ok(None) };
        let bytes = PayloadDecoder::default()
            .decode(codec, &payload)
            .map_err(|error| StoreError::damaged(&self.database, error.to_string()))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
