//! Spending since a given time over all sessions of a store: the daily cap applies to the user's day, not to a session.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::journal_source::{decode_record, to_source_error};
use crate::{SessionInfo, StoreReader};
use planwright_model::event::Event;
use planwright_model::{MicroDollars, Seq, SessionId};
use planwright_state::replay::RecordSourceError;

/// How many rows are read at once.
const BATCH: usize = 512;

/// When the user's day began.
pub fn day_start(now: Timestamp, zone: &TimeZone) -> Timestamp {
    let now: Zoned = now.to_zoned(zone.clone());
    now.start_of_day().map_or(now.timestamp(), |start| start.timestamp())
}

/// Adds up what sessions spent since a given time. A later update reads only new events.
#[derive(Clone, Debug)]
pub struct SpendingTotals {
    since: Timestamp,
    sessions: BTreeMap<SessionId, (Seq, MicroDollars)>,
}

impl SpendingTotals {
    pub fn starting_at(since: Timestamp) -> Self {
        Self { since, sessions: BTreeMap::new() }
    }

    /// The sum over all sessions, including hidden ones.
    pub fn update_total(
        &mut self,
        reader: &StoreReader,
    ) -> Result<MicroDollars, RecordSourceError> {
        let mut sum = MicroDollars::ZERO;
        for info in reader.sessions_written_since(self.since).map_err(to_source_error)? {
            let spent = self.session_spending(reader, &info)?;
            sum = sum.saturating_add(spent);
        }
        Ok(sum)
    }

    fn session_spending(
        &mut self,
        reader: &StoreReader,
        info: &SessionInfo,
    ) -> Result<MicroDollars, RecordSourceError> {
        // A fork shares its history, which its parent paid for.
        let inherited = info.parent.as_ref().map_or(Seq::START, |point| point.seq);
        let (seen, mut sum) =
            self.sessions.get(&info.id).copied().unwrap_or((inherited, MicroDollars::ZERO));
        let mut before = info.head.next();
        'newest_first: while before > seen.next() {
            let rows =
                reader.rows_before(&info.id, before, BATCH, None).map_err(to_source_error)?;
            let Some(first) = rows.first() else { break };
            before = first.seq;
            for row in rows.iter().rev() {
                if row.seq <= seen || row.at < self.since {
                    break 'newest_first;
                }
                if Event::KINDS_WITH_COST.contains(&&*row.kind) {
                    sum = sum.saturating_add(decode_record(row)?.event.cost());
                }
            }
        }
        self.sessions.insert(info.id.clone(), (info.head, sum));
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ForkPoint, Journal, JournalBatch, JournalRow, NewSession, OpenMode, SessionSummary, Store,
    };
    use planwright_model::event::{AgentEvent, CallEvent, CallOutcome, Usage};
    use planwright_model::{CallId, Category, ExecutionFailure};

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_second(1_500_000_000 + hour * 3600).unwrap()
    }

    fn create(store: &Store, id: &str, parent: Option<ForkPoint>) -> Journal {
        let id = SessionId::new(id);
        let new = NewSession {
            id: id.clone(),
            created_at: at(0),
            format: 1,
            parent,
            summary: SessionSummary::default(),
        };
        store.create_session(new).unwrap();
        store.acquire_session(&id).unwrap()
    }

    fn spend(journal: &Journal, seq: u64, hour: i64, micros: u64) {
        let event: Event = CallEvent::Concluded {
            call: CallId { task: "t".into(), attempt: 1, step: 1 },
            outcome: CallOutcome::Exited { code: 0 },
            elapsed_ms: 0,
            output_bytes: 0,
            dropped_bytes: 0,
            usage: Usage { tokens: 1, cost: MicroDollars(micros) },
        }
        .into();
        let row = JournalRow {
            seq: Seq(seq),
            at: at(hour),
            kind: event.kind(),
            task: None,
            payload: event.encode().unwrap(),
        };
        journal.append_blocking(JournalBatch::from_rows(vec![row])).unwrap().wait().unwrap();
    }

    #[test]
    fn a_day_includes_all_sessions_once_and_only_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), OpenMode::ReadWrite).unwrap();
        let one = create(&store, "aaaa", None);
        spend(&one, 1, 1, 1_000);
        spend(&one, 2, 11, 20);
        spend(&one, 3, 12, 3);
        let parent = Some(ForkPoint { session: SessionId::new("aaaa"), seq: Seq(2) });
        let fork = create(&store, "bbbb", parent);
        spend(&fork, 3, 12, 400);
        let reader = store.reader().unwrap();
        let mut today = SpendingTotals::starting_at(at(10));
        assert_eq!(
            today.update_total(&reader).unwrap(),
            MicroDollars(423),
            "the past of a fork counts once"
        );
        spend(&one, 4, 13, 5_000);
        assert_eq!(
            today.update_total(&reader).unwrap(),
            MicroDollars(5_423),
            "what is new is added"
        );
        assert_eq!(
            SpendingTotals::starting_at(at(0)).update_total(&reader).unwrap(),
            MicroDollars(6_423)
        );
    }

    #[test]
    fn every_event_with_a_cost_has_a_kind_that_is_summed() {
        let cost = Some(MicroDollars(7));
        let answered: Event = AgentEvent::ModelAnswered {
            task: None,
            ask: 1,
            text: String::new(),
            calls: None,
            reasoning: Vec::new(),
            cut_off: false,
            fault: None,
            tokens: 1,
            cost,
            elapsed_ms: 1,
        }
        .into();
        let failure = ExecutionFailure::new("x", Category::Critical, "y");
        let failed: Event =
            AgentEvent::ModelFailed { task: None, ask: 1, failure, tokens: 1, cost }.into();
        for event in [answered, failed] {
            assert_eq!(event.cost(), MicroDollars(7));
            assert!(Event::KINDS_WITH_COST.contains(&&*event.kind()), "{}", event.kind());
        }
    }

    #[test]
    fn a_day_begins_at_midnight_in_the_users_time_zone() {
        let now: Timestamp = "2026-06-05T23:30:00Z".parse().unwrap();
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(day_start(now, &berlin).to_string(), "2026-06-05T22:00:00Z");
        assert_eq!(day_start(now, &TimeZone::UTC).to_string(), "2026-06-05T00:00:00Z");
    }
}
