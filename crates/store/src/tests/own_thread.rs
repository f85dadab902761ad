//! Commits on the thread of the caller that waits for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use rusqlite::Connection;

use super::*;
use crate::schema::try_begin_write;
use crate::{AppendAck, StoreError};

fn append_here(journal: &Journal, range: std::ops::RangeInclusive<u64>) -> AppendAck {
    let sent = journal.append_on_this_thread(JournalBatch::from_rows(rows(range))).now_or_never();
    sent.expect("there is room").unwrap()
}

fn all(store: &Store, name: &str) -> Vec<JournalRow> {
    store.reader().unwrap().read_rows(&id(name), Seq(1)..=Seq(u64::MAX)).unwrap()
}

#[test]
fn an_idle_store_commits_before_the_call_returns() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let mut at_once = 0;
    for first in (1..=40).step_by(4) {
        let mut ack = append_here(&journal, first..=first + 3);
        if let Some(head) = (&mut ack).now_or_never() {
            at_once += 1;
            assert_eq!(head.unwrap(), Seq(first + 3));
        } else {
            // The thread had just finished with the lease, or was polling.
            ack.wait().unwrap();
        }
        assert_eq!(all(&store, "a1"), rows(1..=first + 3));
    }
    assert!(at_once > 0, "of 10");
}

#[test]
fn batches_keep_their_order_on_any_thread() {
    let dir = temporary();
    let store = open(&dir);
    let write = |name: &str| {
        let journal = start(&store, name);
        let mut acks = Vec::new();
        for seq in 1..=300 {
            acks.push(if seq % 5 == 0 {
                append_here(&journal, seq..=seq)
            } else {
                journal.append_blocking(JournalBatch::from_rows(rows(seq..=seq))).unwrap()
            });
        }
        for (ack, seq) in acks.into_iter().zip(1..) {
            assert_eq!(ack.wait().unwrap(), Seq(seq));
        }
    };
    std::thread::scope(|scope| {
        for name in ["a1", "b2", "c3"] {
            scope.spawn(move || write(name));
        }
    });
    for name in ["a1", "b2", "c3"] {
        assert_eq!(all(&store, name), rows(1..=300), "{name}");
    }
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

#[test]
fn an_append_does_not_block_its_caller_on_the_lock_of_another_process() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let other = Connection::open(dir.path().join("planwright.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut ack = append_here(&journal, 1..=2);
    assert!((&mut ack).now_or_never().is_none(), "the writer's thread waits for it");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(ack.wait().unwrap(), Seq(2));
    assert_eq!(append_here(&journal, 3..=3).wait().unwrap(), Seq(3));
}

#[test]
fn a_lock_held_by_another_process_is_tried_only_once() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let dir = temporary();
    let _store = open(&dir);
    let [first, mut second] =
        [(); 2].map(|()| Connection::open(dir.path().join("planwright.db")).unwrap());
    first.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ask = |_| {
        ASKED.store(true, Ordering::SeqCst);
        false
    };
    second.busy_handler(Some(ask)).unwrap();
    assert!(try_begin_write(&second).is_none());
    assert!(!ASKED.load(Ordering::SeqCst), "there is nobody who waits");
    first.execute_batch("ROLLBACK").unwrap();
    assert!(try_begin_write(&second).is_some());
}

#[test]
fn a_rejected_batch_stops_the_session_on_this_thread_too() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let gap = append_here(&journal, 4..=5).wait();
    assert!(matches!(gap, Err(StoreError::Gap { expected: Seq(1), .. })), "{gap:?}");
    let after = append_here(&journal, 1..=1).wait();
    assert!(matches!(after, Err(StoreError::Poisoned { .. })), "{after:?}");
    store.close();
    let late =
        journal.append_on_this_thread(JournalBatch::from_rows(rows(1..=1))).now_or_never().unwrap();
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
}

#[test]
fn pending_maintenance_is_done_when_the_store_is_idle() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    // Until the thread sleeps without a timeout.
    std::thread::sleep(Duration::from_millis(700));
    append_here(&journal, 1..=600).wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while store.storage_sizes().unwrap().segments == 0 {
        assert!(Instant::now() < deadline, "the session is sealed in the end");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(all(&store, "a1"), rows(1..=600));
}
