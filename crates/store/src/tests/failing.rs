//! A failed write is reported to everyone who waits for it, and ends the session until its lease is acquired again.

use std::error::Error;

use super::*;
use crate::StoreError;

/// Runs SQL on the writer's own connection.
fn execute(store: &Store, sql: impl Into<String>) {
    let sql = sql.into();
    let run = move |connection: &rusqlite::Connection| {
        connection.execute_batch(&sql).unwrap();
        Ok(())
    };
    store.inner.queue.as_ref().unwrap().run(run).unwrap();
}

#[test]
fn a_full_disk_is_named_and_the_session_resumes_when_there_is_room() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    append(&journal, 1..=10);
    let limit = |pages: u32| execute(&store, format!("PRAGMA max_page_count = {pages}"));
    limit(1);
    let first = journal.append_blocking(JournalBatch::from_rows(rows(11..=500))).unwrap();
    let second = journal.append_blocking(JournalBatch::from_rows(rows(501..=501))).unwrap();
    let first = first.wait().unwrap_err();
    assert!(matches!(first, StoreError::Full { .. }), "{first:?}");
    assert!(second.wait().is_err());
    limit(1_000_000);
    let poisoned = journal
        .append_blocking(JournalBatch::from_rows(rows(11..=11)))
        .unwrap()
        .wait()
        .unwrap_err();
    assert!(poisoned.source().unwrap().to_string().contains("disk is full"), "{poisoned:?}");
    drop(journal);
    let journal = store.acquire_session(&id("a1")).unwrap();
    assert_eq!(journal.head(), Seq(10));
    assert_eq!(append(&journal, 11..=12), Seq(12));
}

#[test]
fn a_transaction_that_fails_half_way_keeps_nothing_and_stops_its_sessions() {
    let dir = temporary();
    let store = open(&dir);
    let (one, two) = (start(&store, "a1"), start(&store, "b2"));
    execute(
        &store,
        "CREATE TEMP TRIGGER failing BEFORE INSERT ON main.live WHEN new.id & 0xfffffffff = 3
         BEGIN SELECT RAISE(ROLLBACK, 'injected'); END",
    );
    for journal in [&one, &two] {
        let failed = journal.append_blocking(JournalBatch::from_rows(rows(1..=3))).unwrap().wait();
        assert!(matches!(failed, Err(StoreError::Sqlite { .. })), "{failed:?}");
    }
    execute(&store, "DROP TRIGGER failing");
    for journal in [one, two] {
        let failed = journal.append_blocking(JournalBatch::from_rows(rows(1..=3))).unwrap().wait();
        assert!(matches!(failed, Err(StoreError::Poisoned { .. })), "{failed:?}");
        let session = journal.session().clone();
        drop(journal);
        assert_eq!(append(&store.acquire_session(&session).unwrap(), 1..=3), Seq(3));
    }
}

#[test]
fn an_append_waits_for_another_writing_process() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let other = rusqlite::Connection::open(dir.path().join("planwright.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ack = journal.append_blocking(JournalBatch::from_rows(rows(1..=3))).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(150));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(ack.wait().unwrap(), Seq(3));
}

#[test]
fn a_closed_store_rejects_writes_and_still_reads() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let ack = journal.append_blocking(JournalBatch::from_rows(rows(1..=3))).unwrap();
    store.close();
    store.close();
    assert_eq!(ack.wait().unwrap(), Seq(3), "what was queued is written first");
    let late = journal.append_blocking(JournalBatch::from_rows(rows(4..=4)));
    assert!(matches!(late, Err(StoreError::Closed)));
    assert!(matches!(store.create_session(plain("b2")), Err(StoreError::Closed)));
    assert_eq!(store.session_info(&id("a1")).unwrap().head, Seq(3));
}

#[test]
fn an_event_above_the_limit_is_rejected_before_it_is_queued() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let mut batch = rows(1..=1);
    batch[0].payload = vec![b' '; crate::codec::MAX_PAYLOAD + 1];
    let refused = journal.append_blocking(JournalBatch::from_rows(batch));
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    assert_eq!(append(&journal, 1..=1), Seq(1), "nothing was sent, so that nothing is spoilt");
}

#[tokio::test]
async fn a_writer_that_is_ahead_of_the_disk_waits_for_capacity() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let other = rusqlite::Connection::open(dir.path().join("planwright.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let large = |seq: u64| {
        let mut batch = rows(seq..=seq);
        batch[0].payload = vec![b'x'; 6 << 20];
        JournalBatch::from_rows(batch)
    };
    let first = journal.append(large(1)).await.unwrap();
    let mut second = Box::pin(journal.append(large(2)));
    let waited = tokio::time::timeout(std::time::Duration::from_millis(50), &mut second).await;
    assert!(waited.is_err(), "there was room for both");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(second.await.unwrap().await.unwrap(), Seq(2));
    assert_eq!(first.await.unwrap(), Seq(1));
}
