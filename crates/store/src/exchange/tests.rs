//! Properties of every session: a replay at any event equals the live state, and an export round-trips to the same
//! bytes.

use proptest::prelude::*;

use super::event_source::ImportedSession;
use super::jsonl::{self, ExportReader};
use crate::journal_source::JournalSource;
use crate::{NewSession, OpenMode, SessionProvenance, SessionSummary, Store};
use planwright_model::event::arbitrary::journal;
use planwright_model::event::{FORMAT, Record};
use planwright_model::{Seq, SessionId};
use planwright_state::SessionState;
use planwright_state::replay::History;

fn taken_in(dir: &std::path::Path, id: &SessionId, records: Vec<Record>) -> Store {
    let store = Store::open(dir, OpenMode::ReadWrite).unwrap();
    let new = NewSession {
        id: id.clone(),
        created_at: records[0].at,
        format: FORMAT,
        parent: None,
        summary: SessionSummary::default(),
    };
    let from = SessionProvenance { source: "test".into(), header: String::new() };
    store.import_session(new, from, Vec::new(), ImportedSession::new(records)).unwrap().unwrap();
    store
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The live run is a fold over its events as they arrive; a replay reads checkpoints and sealed runs.
    #[test]
    fn a_replay_at_any_event_equals_the_live_state(
        records in journal(400),
        jumps in prop::collection::vec(any::<prop::sample::Index>(), 1..10),
    ) {
        prop_assume!(!records.is_empty());
        let dir = tempfile::tempdir().unwrap();
        let id = SessionId::new("aaaa");
        let mut live = vec![SessionState::default()];
        for record in &records {
            let mut next = live.last().unwrap().clone();
            next.apply(record);
            live.push(next);
        }
        let store = taken_in(dir.path(), &id, records);
        store.seal_session(&id).unwrap();
        let mut history = History::new(JournalSource::new(store.reader().unwrap(), id));
        for jump in jumps {
            let at = jump.index(live.len());
            prop_assert_eq!(&*history.state_at(Seq(at as u64)).unwrap(), &live[at]);
        }
    }

    #[test]
    fn any_session_round_trips_to_the_same_bytes(records in journal(120)) {
        prop_assume!(!records.is_empty());
        let dir = tempfile::tempdir().unwrap();
        let id = SessionId::new("aaaa");
        let store = taken_in(dir.path(), &id, records);
        store.set_bookmark(&id, Seq(1), Some("where it begins")).unwrap();
        let mut first = Vec::new();
        jsonl::write_export(&store.reader().unwrap(), &id, &mut first).unwrap();
        let file = dir.path().join("export.jsonl");
        std::fs::write(&file, &first).unwrap();
        let other = tempfile::tempdir().unwrap();
        let target = Store::open(other.path(), OpenMode::ReadWrite).unwrap();
        let export = ExportReader::open(&file).unwrap().unwrap();
        let (new, from, bookmarks, incoming) = export.into_parts(id.clone());
        target.import_session(new, from, bookmarks, incoming).unwrap().unwrap();
        let mut second = Vec::new();
        jsonl::write_export(&target.reader().unwrap(), &id, &mut second).unwrap();
        prop_assert!(first == second);
    }
}
