//! Listing, finding and removing sessions.

use super::*;
use crate::{FindError, ForkPoint, SessionRemoval, StoreError};
use planwright_model::MicroDollars;

fn fork(store: &Store, name: &str, parent: &str, seq: u64) {
    let parent = Some(ForkPoint { session: id(parent), seq: Seq(seq) });
    store.create_session(NewSession { parent, ..plain(name) }).unwrap();
}

fn listed(store: &Store) -> Vec<String> {
    store.list_sessions().unwrap().iter().map(|session| session.id.to_string()).collect()
}

#[test]
fn the_summary_is_stored_with_the_rows_it_summarizes() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let summary = SessionSummary {
        title: "Build".into(),
        status: "running".into(),
        done: 3,
        total: 9,
        cost: MicroDollars(1_234_567),
        tokens: u64::MAX,
        open_requests: 1,
        ..SessionSummary::default()
    };
    let batch =
        JournalBatch { summary: Some(summary.clone()), ..JournalBatch::from_rows(rows(1..=2)) };
    journal.append_blocking(batch).unwrap().wait().unwrap();
    let session = store.session_info(&id("a1")).unwrap();
    assert_eq!(session.head, Seq(2));
    assert_eq!(session.created_at, plain("a1").created_at);
    assert!(session.opened_at <= Some(session.updated_at));
    // A figure beyond the range of the database is clamped to its maximum.
    assert_eq!(session.summary, SessionSummary { tokens: i64::MAX.cast_unsigned(), ..summary });
}

#[test]
fn a_session_is_found_by_id_by_prefix_and_as_last() {
    let dir = temporary();
    let store = open(&dir);
    assert!(matches!(store.find_session("last"), Err(FindError::None { .. })));
    for name in ["abc123", "abd456", "abc"] {
        append(&start(&store, name), 1..=1);
    }
    let found = |name: &str| store.find_session(name).map(|id| id.to_string());
    assert_eq!(found("abc123").unwrap(), "abc123");
    assert_eq!(found("abd").unwrap(), "abd456");
    assert_eq!(found("abc").unwrap(), "abc", "a whole id wins over a prefix");
    assert_eq!(found("last").unwrap(), "abc");
    drop(store.acquire_session(&id("abc123")).unwrap());
    assert_eq!(found("last").unwrap(), "abc123", "opening for writing counts");
    assert!(matches!(found("ab"), Err(FindError::Several { matches, .. }) if matches.len() == 3));
    for nothing in ["", "x", "%", "abc1234"] {
        assert!(matches!(found(nothing), Err(FindError::None { .. })), "{nothing}");
    }
}

#[test]
fn ids_that_cannot_be_file_names_and_ids_in_use_are_refused() {
    let dir = temporary();
    let store = open(&dir);
    for bad in ["", "last", "../x", "a b", "ä", &"x".repeat(65)] {
        let refused = store.create_session(plain(bad));
        assert!(matches!(refused, Err(StoreError::BadSessionId { .. })), "{bad}");
    }
    store.create_session(plain("a1")).unwrap();
    let again = store.create_session(plain("a1"));
    assert!(matches!(again, Err(StoreError::SessionExists { .. })));
    assert!(matches!(store.acquire_session(&id("b2")), Err(StoreError::NoSession { .. })));
}

#[test]
fn a_session_and_its_first_events_are_one_transaction() {
    let dir = temporary();
    let store = open(&dir);
    let refused = store.begin_session(plain("a1"), JournalBatch::from_rows(rows(2..=3)));
    assert!(matches!(refused, Err(StoreError::Gap { .. })), "{refused:?}");
    assert!(listed(&store).is_empty(), "a session whose events are refused is not there");
    assert!(!dir.path().join("locks/a1.lock").exists());
    let journal = store.begin_session(plain("a1"), JournalBatch::from_rows(rows(1..=3))).unwrap();
    assert_eq!(journal.head(), Seq(3));
    assert!(matches!(store.acquire_session(&id("a1")), Err(StoreError::Held { .. })));
    let again = store.begin_session(plain("a1"), JournalBatch::from_rows(rows(1..=1)));
    assert!(matches!(again, Err(StoreError::Held { .. })), "{again:?}");
    append(&journal, 4..=5);
    drop(journal);
    let again = store.begin_session(plain("a1"), JournalBatch::from_rows(rows(1..=1)));
    assert!(matches!(again, Err(StoreError::SessionExists { .. })), "{again:?}");
    let parent = Some(ForkPoint { session: id("a1"), seq: Seq(4) });
    let new = NewSession { parent, ..plain("b2") };
    store.begin_session(new, JournalBatch::from_rows(rows(5..=7))).unwrap().release().unwrap();
    let reader = store.reader().unwrap();
    assert_eq!(reader.read_rows(&id("b2"), Seq(1)..=Seq(9)).unwrap(), rows(1..=7));
    let refused = store.begin_session(plain("../x"), JournalBatch::from_rows(rows(1..=1)));
    assert!(matches!(refused, Err(StoreError::BadSessionId { .. })), "{refused:?}");
}

#[test]
fn a_session_without_own_events_is_empty_and_never_the_last() {
    let dir = temporary();
    let store = open(&dir);
    append(&start(&store, "a1"), 1..=3);
    drop(start(&store, "b2"));
    fork(&store, "c3", "a1", 2);
    let empty: Vec<String> = store
        .list_sessions()
        .unwrap()
        .iter()
        .filter(|info| info.is_empty() && info.summary.status == "empty")
        .map(|info| info.id.to_string())
        .collect();
    assert_eq!(empty, ["b2", "c3"]);
    assert_eq!(store.find_session("last").unwrap(), id("a1"));
    assert_eq!(store.find_session("b2").unwrap(), id("b2"), "by its id it is found");
}

#[test]
fn a_removed_session_is_gone_with_everything_it_had() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    append(&journal, 1..=5_000);
    let batch = JournalBatch { checkpoint: Some(b"state".to_vec()), ..JournalBatch::default() };
    journal.append_blocking(batch).unwrap().wait().unwrap();
    assert!(matches!(store.remove_session(&id("a1")), Err(StoreError::Held { .. })));
    drop(journal);
    assert_eq!(store.remove_session(&id("a1")).unwrap(), SessionRemoval::Deleted);
    assert_eq!(listed(&store), Vec::<String>::new());
    let sizes = store.storage_sizes().unwrap();
    assert_eq!((sizes.live_events, sizes.segments, sizes.checkpoints), (0, 0, 0));
    assert!(matches!(store.session_info(&id("a1")), Err(StoreError::NoSession { .. })));
    assert!(!dir.path().join("locks/a1.lock").exists());
    append(&start(&store, "a1"), 1..=1);
}

#[test]
fn a_session_with_forks_is_hidden_until_the_last_fork_is_removed() {
    let dir = temporary();
    let store = open(&dir);
    append(&start(&store, "a1"), 1..=10);
    fork(&store, "b2", "a1", 5);
    fork(&store, "c3", "a1", 7);
    assert_eq!(store.remove_session(&id("a1")).unwrap(), SessionRemoval::Hidden { forks: 2 });
    assert_eq!(listed(&store), ["c3", "b2"]);
    assert!(store.session_info(&id("a1")).unwrap().hidden);
    let reader = store.reader().unwrap();
    assert_eq!(reader.read_rows(&id("c3"), Seq(1)..=Seq(9)).unwrap(), rows(1..=7));
    assert_eq!(store.remove_session(&id("b2")).unwrap(), SessionRemoval::Deleted);
    assert_eq!(reader.read_rows(&id("c3"), Seq(1)..=Seq(9)).unwrap(), rows(1..=7));
    assert_eq!(store.remove_session(&id("c3")).unwrap(), SessionRemoval::Deleted);
    assert!(matches!(store.session_info(&id("a1")), Err(StoreError::NoSession { .. })));
    assert_eq!(store.storage_sizes().unwrap().live_events, 0);
}

#[test]
fn the_nearest_checkpoint_may_be_in_a_parent() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let state = |seq: u64| format!("state at {seq}, ").repeat(200).into_bytes();
    for last in [10, 20] {
        let rows = rows(last - 9..=last);
        let batch = JournalBatch { checkpoint: Some(state(last)), ..JournalBatch::from_rows(rows) };
        journal.append_blocking(batch).unwrap().wait().unwrap();
    }
    fork(&store, "b2", "a1", 15);
    append(&store.acquire_session(&id("b2")).unwrap(), 16..=18);
    let reader = store.reader().unwrap();
    let nearest = |name, seq| reader.nearest_checkpoint(&id(name), Seq(seq)).unwrap();
    assert_eq!(nearest("a1", 9), None);
    assert_eq!(nearest("a1", 10), Some((Seq(10), state(10))));
    assert_eq!(nearest("a1", 99), Some((Seq(20), state(20))));
    assert_eq!(nearest("b2", 18), Some((Seq(10), state(10))), "not the one behind the fork");
}

#[test]
fn a_dangling_reference_is_found() {
    let dir = temporary();
    let store = open(&dir);
    append(&start(&store, "a1"), 1..=3);
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
    let file = rusqlite::Connection::open(dir.path().join("planwright.db")).unwrap();
    file.execute_batch(
        "PRAGMA foreign_keys = OFF;
         INSERT INTO checkpoint (session, seq, codec, payload) VALUES (4711, 1, 0, x'00');",
    )
    .unwrap();
    let problems = store.check_integrity(CheckDepth::Full).unwrap().problems;
    assert_eq!(problems, ["1 rows refer to something that is not there"]);
}
