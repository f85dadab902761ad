//! Several processes on one store.

use super::child::Other;
use super::*;
use crate::StoreError;

#[test]
fn twenty_starts_at_once_on_an_empty_store_all_succeed() {
    let dir = temporary();
    let store_dir = dir.path().join("store");
    let mut others: Vec<_> =
        (0..20).map(|n| Other::start(&format!("session-{n}"), &store_dir)).collect();
    for other in &mut others {
        assert!(other.next_line().is_some());
    }
    assert!(others.into_iter().all(Other::close_and_wait));
    let store = Store::open(&store_dir, OpenMode::ReadWrite).unwrap();
    assert_eq!(store.list_sessions().unwrap().len(), 20);
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_session_open_in_another_process_is_refused_by_name_and_free_after_its_end() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    append(&journal, 1..=4);
    journal.release().unwrap();
    let mut other = Other::start("hold", dir.path());
    assert_eq!(other.next_line().as_deref(), Some("held at 4"));
    let held = store.acquire_session(&id("a1")).unwrap_err();
    assert!(
        matches!(&held, StoreError::Held { holder: Some(holder), .. } if holder.pid == other.id())
    );
    assert!(held.to_string().contains(&format!("in process {} on ", other.id())), "{held}");
    assert_eq!(store.lease_holder(&id("a1")).unwrap().unwrap().pid, other.id());
    other.kill();
    assert_eq!(store.lease_holder(&id("a1")).unwrap(), None);
    assert_eq!(append(&store.acquire_session(&id("a1")).unwrap(), 5..=5), Seq(5));
}

#[test]
fn a_second_opener_in_the_same_process_is_refused_until_the_first_is_dropped() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let clone = journal.clone();
    assert!(matches!(store.acquire_session(&id("a1")), Err(StoreError::Held { .. })));
    drop(journal);
    assert!(matches!(store.acquire_session(&id("a1")), Err(StoreError::Held { .. })));
    let ack = clone.append_blocking(JournalBatch::from_rows(rows(1..=1))).unwrap();
    drop(clone);
    assert_eq!(store.acquire_session(&id("a1")).unwrap().head(), Seq(1));
    assert_eq!(ack.wait().unwrap(), Seq(1));
}

#[test]
fn a_writer_whose_lock_file_vanished_is_fenced_off_by_the_next() {
    let dir = temporary();
    let store = open(&dir);
    let first = start(&store, "a1");
    std::fs::remove_file(dir.path().join("locks/a1.lock")).unwrap();
    let second = store.acquire_session(&id("a1")).unwrap();
    let late = first.append_blocking(JournalBatch::from_rows(rows(1..=1))).unwrap().wait();
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    assert_eq!(append(&second, 1..=1), Seq(1));
}

#[test]
fn a_watcher_sees_the_head_move_and_is_free_while_it_does_not() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let watching = Store::open(dir.path(), OpenMode::ReadOnly).unwrap();
    let mut watch = watching.reader().unwrap().watch_session(id("a1"));
    assert_eq!(watch.poll_head().unwrap(), Some(Seq(0)));
    assert_eq!(watch.poll_head().unwrap(), None);
    append(&journal, 1..=3);
    assert_eq!(watch.poll_head().unwrap(), Some(Seq(3)));
    assert_eq!(watch.poll_head().unwrap(), None);
    assert!(matches!(watching.acquire_session(&id("a1")), Err(StoreError::ReadOnly)));
}
