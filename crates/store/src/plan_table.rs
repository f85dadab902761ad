//! The table of plans: every version of every plan with its pattern, its nodes and the blocks of its schedule.
//!
//! A projection: everything in it is derived from the journal and can be rebuilt from it.

use std::path::Path;

use rusqlite::{Connection, params};

use super::error::{SqliteResultExt, StoreError};
use super::lease::find_session_key;
use super::reader::StoreReader;
use super::schema::in_write_transaction;
use planwright_model::SessionId;

const WRITING: &str = "writing the table of plans";
const READING: &str = "reading the table of plans";

/// One version of a plan. The confidence in its pattern is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRow {
    pub version: u32,
    pub goal_id: String,
    pub pattern_type: String,
    pub pattern_subtype: Option<String>,
    pub pattern_variant: Option<String>,
    pub nodes: Vec<String>,
    pub blocks: Vec<BlockRow>,
}

/// A block of a schedule, with its times in microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRow {
    pub id: String,
    pub node: String,
    pub start: i64,
    pub finish: i64,
}

/// Replaces one version of a plan, within the transaction of the connection.
pub(super) fn put_plan(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
    plan: &PlanRow,
) -> Result<(), StoreError> {
    let key = find_session_key(connection, database, session)?;
    insert_plan_version(connection, key, plan).during(WRITING, database)
}

fn insert_plan_version(connection: &Connection, key: i64, plan: &PlanRow) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM plans WHERE session = ? AND version = ?")?
        .execute(params![key, plan.version])?;
    connection
        .prepare_cached(
            "INSERT INTO plans (session, version, goal_id, pattern_type, pattern_subtype, pattern_variant)
             VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            key,
            plan.version,
            plan.goal_id,
            plan.pattern_type,
            plan.pattern_subtype,
            plan.pattern_variant
        ])?;
    let mut node = connection.prepare_cached(
        "INSERT OR IGNORE INTO plan_node (session, version, node) VALUES (?, ?, ?)",
    )?;
    for name in &plan.nodes {
        node.execute(params![key, plan.version, name])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO plan_block (session, version, block, node, start, finish)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for block in &plan.blocks {
        insert.execute(params![
            key,
            plan.version,
            block.id,
            block.node,
            block.start,
            block.finish
        ])?;
    }
    Ok(())
}

/// Replaces all versions of a session's plan.
pub(super) fn rebuild_plans(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
    plans: &[PlanRow],
) -> Result<(), StoreError> {
    in_write_transaction(connection, database, WRITING, |transaction| {
        let key = find_session_key(transaction, database, session)?;
        let write = || {
            transaction.execute("DELETE FROM plans WHERE session = ?", [key])?;
            for plan in plans {
                insert_plan_version(transaction, key, plan)?;
            }
            transaction.execute("INSERT OR IGNORE INTO projected (session) VALUES (?)", [key])
        };
        write().during(WRITING, database).map(drop)
    })
}

impl StoreReader {
    /// Sessions whose plan rows must be built from their journal first.
    pub fn unprojected_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        self.query_session_ids(
            "SELECT id FROM session WHERE visibility = 0 AND key NOT IN (SELECT session FROM projected)",
            params![],
        )
    }

    /// Sessions whose newest plan has a pattern, subtype or variant of this name, or `type/subtype`.
    pub fn sessions_by_pattern(&self, pattern: &str) -> Result<Vec<SessionId>, StoreError> {
        self.query_session_ids(
            "SELECT s.id FROM plans p JOIN session s ON s.key = p.session
             WHERE s.visibility = 0
               AND p.version = (SELECT max(version) FROM plans WHERE session = p.session)
               AND (p.pattern_type = ?1 OR p.pattern_subtype = ?1 OR p.pattern_variant = ?1
                    OR p.pattern_type || '/' || p.pattern_subtype = ?1)",
            params![pattern],
        )
    }

    fn query_session_ids(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<SessionId>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).during(READING, &self.database)?;
        let rows = statement
            .query_map(parameters, |row| row.get::<_, String>(0))
            .during(READING, &self.database)?;
        rows.map(|id| id.map(SessionId::new).during(READING, &self.database)).collect()
    }

    /// All versions of a session's plan in the table, oldest first.
    pub fn plan_versions(&self, session: &SessionId) -> Result<Vec<PlanRow>, StoreError> {
        let key = find_session_key(&self.connection, &self.database, session)?;
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT version, goal_id, pattern_type, pattern_subtype, pattern_variant
                 FROM plans WHERE session = ? ORDER BY version",
            )?;
            let mut plans = statement
                .query_map([key], |row| {
                    Ok(PlanRow {
                        version: row.get(0)?,
                        goal_id: row.get(1)?,
                        pattern_type: row.get(2)?,
                        pattern_subtype: row.get(3)?,
                        pattern_variant: row.get(4)?,
                        nodes: Vec::new(),
                        blocks: Vec::new(),
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            for plan in &mut plans {
                let mut nodes = self.connection.prepare_cached(
                    "SELECT node FROM plan_node WHERE session = ? AND version = ? ORDER BY node",
                )?;
                plan.nodes = nodes
                    .query_map(params![key, plan.version], |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?;
                let mut blocks = self.connection.prepare_cached(
                    "SELECT block, node, start, finish FROM plan_block
                     WHERE session = ? AND version = ? ORDER BY block",
                )?;
                plan.blocks = blocks
                    .query_map(params![key, plan.version], |row| {
                        Ok(BlockRow {
                            id: row.get(0)?,
                            node: row.get(1)?,
                            start: row.get(2)?,
                            finish: row.get(3)?,
                        })
                    })?
                    .collect::<rusqlite::Result<_>>()?;
            }
            Ok(plans)
        };
        let plans: rusqlite::Result<Vec<PlanRow>> = read();
        plans.during(READING, &self.database)
    }

    /// How many rows refer to a missing row. Anything but 0 is a bug in this program.
    pub fn broken_references(&self) -> Result<usize, StoreError> {
        self.connection
            .prepare("PRAGMA foreign_key_check")
            .and_then(|mut statement| {
                let mut rows = statement.query([])?;
                let mut count = 0;
                while rows.next()?.is_some() {
                    count += 1;
                }
                Ok(count)
            })
            .during(READING, &self.database)
    }
}
