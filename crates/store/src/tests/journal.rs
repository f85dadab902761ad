//! Appending and reading back.

use std::ops::ControlFlow;

use super::*;
use crate::{ForkPoint, StoreError};

#[test]
fn appended_rows_are_read_back_byte_for_byte() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    assert_eq!(append(&journal, 1..=3), Seq(3));
    assert_eq!(append(&journal, 4..=40), Seq(40));
    let reader = store.reader().unwrap();
    assert_eq!(reader.read_rows(&id("a1"), Seq(1)..=Seq(99)).unwrap(), rows(1..=40));
    assert_eq!(reader.read_row(&id("a1"), Seq(17)).unwrap(), Some(row(17)));
    assert_eq!(reader.read_row(&id("a1"), Seq(41)).unwrap(), None);
    assert_eq!(reader.rows_before(&id("a1"), Seq(10), 3, None).unwrap(), rows(7..=9));
}

#[test]
fn a_gap_is_rejected_and_stops_the_session_until_the_lease_is_reacquired() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    append(&journal, 1..=2);
    let gap = journal.append_blocking(JournalBatch::from_rows(rows(4..=5))).unwrap().wait();
    assert!(matches!(gap, Err(StoreError::Gap { expected: Seq(3), found: Seq(4), .. })), "{gap:?}");
    let after = journal.append_blocking(JournalBatch::from_rows(rows(3..=3))).unwrap().wait();
    assert!(matches!(after, Err(StoreError::Poisoned { .. })), "{after:?}");
    drop(journal);
    let journal = store.acquire_session(&id("a1")).unwrap();
    assert_eq!(journal.head(), Seq(2));
    assert_eq!(append(&journal, 3..=3), Seq(3));
}

#[test]
fn a_fork_reads_its_history_from_its_parents() {
    let dir = temporary();
    let store = open(&dir);
    let fork = |name: &str, parent: &str, seq| NewSession {
        parent: Some(ForkPoint { session: id(parent), seq: Seq(seq) }),
        ..plain(name)
    };
    let journal = start(&store, "a1");
    append(&journal, 1..=20);
    store.create_session(fork("b2", "a1", 10)).unwrap();
    let child = store.acquire_session(&id("b2")).unwrap();
    assert_eq!(child.head(), Seq(10));
    append(&child, 11..=15);
    store.create_session(fork("c3", "b2", 5)).unwrap();
    let grandchild = store.acquire_session(&id("c3")).unwrap();
    append(&grandchild, 6..=7);
    let reader = store.reader().unwrap();
    assert_eq!(reader.read_rows(&id("b2"), Seq(1)..=Seq(99)).unwrap(), rows(1..=15));
    assert_eq!(reader.read_rows(&id("c3"), Seq(1)..=Seq(99)).unwrap(), rows(1..=7));
    assert_eq!(reader.rows_before(&id("b2"), Seq(13), 4, None).unwrap(), rows(9..=12));
    let beyond = store.create_session(fork("d4", "a1", 21));
    assert!(matches!(beyond, Err(StoreError::BadForkPoint { head: Seq(20), .. })), "{beyond:?}");
}

#[test]
fn a_visitor_may_read_as_well() {
    let dir = temporary();
    let store = open(&dir);
    append(&start(&store, "a1"), 1..=300);
    store.seal_session(&id("a1")).unwrap();
    let reader = store.reader().unwrap();
    let mut seen = 0;
    reader
        .scan_rows(&id("a1"), Seq(1)..=Seq(300), Some("task-1"), |found| {
            assert_eq!(reader.read_row(&id("a1"), found.seq).unwrap(), Some(found));
            seen += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(
        seen,
        rows(1..=300).iter().filter(|row| row.task.as_deref() == Some("task-1")).count()
    );
}
