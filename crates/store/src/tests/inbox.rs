//! Answers that are left for the holder of a session.

use super::*;
use crate::{InboxAnswer, SideWrite, StoreError};
use planwright_model::RequestId;

fn left(store: &Store, session: &str, request: u32) {
    let answer = InboxAnswer { request: RequestId(request), answer: "{}".to_owned() };
    store.post_answer(&id(session), answer).unwrap();
}

fn waiting(store: &Store, session: &str) -> Vec<RequestId> {
    let letters = store.inbox_letters(&id(session)).unwrap();
    letters.into_iter().map(|letter| letter.answer.request).collect()
}

/// A batch that says what became of the oldest letter, and removes it.
fn acting_on_first(store: &Store, session: &str, rows: Vec<JournalRow>) -> JournalBatch {
    let letter = store.inbox_letters(&id(session)).unwrap().remove(0);
    JournalBatch {
        side: vec![SideWrite::RemoveLetter(letter.key)],
        ..JournalBatch::from_rows(rows)
    }
}

#[test]
fn a_letter_is_removed_in_the_commit_of_what_became_of_it() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    left(&store, "a1", 1);
    left(&store, "a1", 2);
    // Reading takes nothing away.
    assert_eq!(waiting(&store, "a1"), [RequestId(1), RequestId(2)]);
    assert_eq!(waiting(&store, "a1"), [RequestId(1), RequestId(2)]);
    let batch = acting_on_first(&store, "a1", rows(1..=2));
    assert_eq!(journal.append_blocking(batch).unwrap().wait().unwrap(), Seq(2));
    assert_eq!(waiting(&store, "a1"), [RequestId(2)]);
    // A letter about which there is nothing to say goes as well.
    let batch = acting_on_first(&store, "a1", Vec::new());
    journal.append_blocking(batch).unwrap().wait().unwrap();
    assert_eq!(waiting(&store, "a1"), []);
    assert_eq!(append(&journal, 3..=3), Seq(3));
}

#[test]
fn a_letter_stays_where_the_commit_is_not_made() {
    let dir = temporary();
    let store = open(&dir);
    let first = start(&store, "a1");
    left(&store, "a1", 1);
    std::fs::remove_file(dir.path().join("locks/a1.lock")).unwrap();
    let second = store.acquire_session(&id("a1")).unwrap();
    let batch = acting_on_first(&store, "a1", rows(1..=1));
    let late = first.append_blocking(batch.clone()).unwrap().wait();
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    assert_eq!(waiting(&store, "a1"), [RequestId(1)]);
    assert_eq!(second.append_blocking(batch).unwrap().wait().unwrap(), Seq(1));
    assert_eq!(waiting(&store, "a1"), []);
}

#[test]
fn removing_a_letter_twice_never_removes_a_later_one() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    left(&store, "a1", 1);
    let again = acting_on_first(&store, "a1", Vec::new());
    journal.append_blocking(again.clone()).unwrap().wait().unwrap();
    // The number of the first is free and used again.
    left(&store, "a1", 2);
    journal.append_blocking(again).unwrap().wait().unwrap();
    assert_eq!(waiting(&store, "a1"), [RequestId(2)]);
}

#[test]
fn an_answer_is_withdrawn_by_its_own_name_only() {
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    let answer = |request| InboxAnswer { request: RequestId(request), answer: "{}".to_owned() };
    let first = store.post_answer(&id("a1"), answer(1)).unwrap();
    assert!(store.reader().unwrap().is_answer_waiting(first).unwrap());
    let taken = acting_on_first(&store, "a1", rows(1..=1));
    journal.append_blocking(taken).unwrap().wait().unwrap();
    // Somebody else leaves an answer, which has the number of the first.
    let second = store.post_answer(&id("a1"), answer(2)).unwrap();
    assert!(!store.reader().unwrap().is_answer_waiting(first).unwrap());
    assert!(!store.withdraw_answer(first).unwrap());
    assert_eq!(waiting(&store, "a1"), [RequestId(2)]);
    assert!(store.withdraw_answer(second).unwrap());
    assert_eq!(waiting(&store, "a1"), []);
}

#[test]
fn letters_of_another_session_are_not_seen() {
    let dir = temporary();
    let store = open(&dir);
    let (_one, _other) = (start(&store, "a1"), start(&store, "b2"));
    left(&store, "b2", 7);
    assert_eq!((waiting(&store, "a1"), waiting(&store, "b2")), (vec![], vec![RequestId(7)]));
}
