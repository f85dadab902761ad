//! Sealing changes where events are stored and nothing else.

use proptest::prelude::*;

use super::*;
use crate::{ForkPoint, StoreError};

fn all(store: &Store, name: &str) -> Vec<JournalRow> {
    store.reader().unwrap().read_rows(&id(name), Seq(1)..=Seq(u64::MAX)).unwrap()
}

#[test]
fn a_sealed_session_reads_as_before_and_can_be_appended_to() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    append(&journal, 1..=700);
    store.seal_session(&id("a1")).unwrap();
    let sizes = store.storage_sizes().unwrap();
    assert_eq!((sizes.live_events, sizes.segments), (0, 6));
    assert_eq!(all(&store, "a1"), rows(1..=700));
    append(&journal, 701..=710);
    let reader = store.reader().unwrap();
    assert_eq!(reader.read_rows(&id("a1"), Seq(200)..=Seq(705)).unwrap(), rows(200..=705));
    assert_eq!(reader.rows_before(&id("a1"), Seq(704), 10, None).unwrap(), rows(694..=703));
    assert_eq!(reader.rows_before(&id("a1"), Seq(300), 60, None).unwrap(), rows(240..=299));
    for seq in [1, 256, 257, 700, 701, 710] {
        assert_eq!(reader.read_row(&id("a1"), Seq(seq)).unwrap(), Some(row(seq)), "{seq}");
    }
    let mut of_task = rows(1..=710);
    of_task.retain(|row| row.task.as_deref() == Some("task-2"));
    let found = reader.rows_before(&id("a1"), Seq(711), 1000, Some("task-2")).unwrap();
    assert_eq!(found, of_task);
    assert_eq!(reader.rows_before(&id("a1"), Seq(711), 1000, Some("none")).unwrap(), []);
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_session_is_sealed_when_it_is_closed_and_again_after_it_was_resumed() {
    let dir = temporary();
    append(&start(&open(&dir), "a1"), 1..=30);
    let store = open(&dir);
    assert_eq!(store.storage_sizes().unwrap().segments, 1);
    append(&store.acquire_session(&id("a1")).unwrap(), 31..=40);
    drop(store);
    let store = open(&dir);
    let sizes = store.storage_sizes().unwrap();
    assert_eq!((sizes.segments, sizes.live_events), (2, 0));
    assert_eq!(all(&store, "a1"), rows(1..=40));
}

#[test]
fn a_large_event_gets_its_own_run() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let mut batch = rows(1..=5);
    batch[2].payload =
        (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    journal.append_blocking(JournalBatch::from_rows(batch.clone())).unwrap().wait().unwrap();
    store.seal_session(&id("a1")).unwrap();
    assert_eq!(store.storage_sizes().unwrap().segments, 3);
    assert_eq!(all(&store, "a1"), batch);
}

#[test]
fn a_fork_of_a_sealed_session_reads_only_up_to_its_fork_point() {
    let dir = temporary();
    let store = open(&dir);
    append(&start(&store, "a1"), 1..=300);
    store.seal_session(&id("a1")).unwrap();
    let parent = Some(ForkPoint { session: id("a1"), seq: Seq(100) });
    store.create_session(NewSession { parent, ..plain("b2") }).unwrap();
    append(&store.acquire_session(&id("b2")).unwrap(), 101..=120);
    store.seal_session(&id("b2")).unwrap();
    assert_eq!(all(&store, "b2"), rows(1..=120));
    let checked = store.check_integrity(CheckDepth::Full).unwrap();
    assert_eq!((checked.problems, checked.sessions), (Vec::new(), 2));
}

#[test]
fn a_damaged_run_is_reported_and_not_decoded_into_something_else() {
    let dir = temporary();
    let store = open(&dir);
    append(&start(&store, "a1"), 1..=50);
    store.seal_session(&id("a1")).unwrap();
    let file = rusqlite::Connection::open(dir.path().join("planwright.db")).unwrap();
    let cut = "UPDATE segment SET payloads = substr(payloads, 1, length(payloads) - 1)";
    file.execute(cut, []).unwrap();
    let read = store.reader().unwrap().read_row(&id("a1"), Seq(3));
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_is_the_same_for_any_batches_and_sealing(
        steps in prop::collection::vec((1..200_u64, any::<bool>()), 1..8),
        from in 1..800_u64,
        length in 0..400_u64,
    ) {
        let dir = temporary();
        let store = open(&dir);
        let journal = start(&store, "a1");
        let mut head = 0;
        for (count, seal) in steps {
            append(&journal, head + 1..=head + count);
            head += count;
            if seal {
                store.seal_session(&id("a1")).unwrap();
            }
        }
        let reader = store.reader().unwrap();
        prop_assert_eq!(all(&store, "a1"), rows(1..=head));
        let last = (from + length).min(head);
        prop_assert_eq!(reader.read_rows(&id("a1"), Seq(from)..=Seq(from + length)).unwrap(), rows(from..=last));
    }
}
