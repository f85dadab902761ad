//! The store keeps what it acknowledged, even if it is killed at any point.

use std::thread::sleep;
use std::time::Duration;

use super::child::Other;
use super::*;

/// A small generator, so that a failing point can be reproduced.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn acknowledged_events_survive_a_kill_at_any_point() {
    let dir = temporary();
    drop(start(&open(&dir), "a1"));
    let mut state = 0x5eed_0047;
    for point in 0..10 {
        let acknowledged = run_and_kill(&dir, &mut state);
        let store = open(&dir);
        let reader = store.reader().unwrap();
        let head = reader.head(&id("a1")).unwrap();
        assert!(head >= acknowledged, "point {point}: {head} kept, {acknowledged} acknowledged");
        assert_eq!(reader.read_rows(&id("a1"), Seq(1)..=head).unwrap(), rows(1..=head.0));
        let (at, state) = reader.nearest_checkpoint(&id("a1"), head).unwrap().unwrap();
        assert_eq!(state, format!("state at {at}").into_bytes());
        assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
        let journal = store.acquire_session(&id("a1")).unwrap();
        assert_eq!(journal.head(), head);
    }
}

#[test]
fn a_kill_while_events_are_being_sealed_loses_none() {
    let mut found = Vec::new();
    for point in 0..10 {
        let dir = temporary();
        drop(start(&open(&dir), "a1"));
        let mut writer = Other::start("rest", dir.path());
        assert_eq!(writer.next_line().as_deref(), Some("2000"));
        // From before the first run is sealed to about the last; the last point waits until all must be sealed.
        sleep(Duration::from_millis(if point < 9 { 20 + point * 4 } else { 1_000 }));
        writer.kill();
        let store = open(&dir);
        found.push(store.storage_sizes().unwrap().segments);
        let reader = store.reader().unwrap();
        assert_eq!(reader.read_rows(&id("a1"), Seq(1)..=Seq(2_000)).unwrap(), rows(1..=2_000));
        assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
    }
    assert_eq!(found.last(), Some(&14), "sealed runs at each point: {found:?}");
}

fn run_and_kill(dir: &TempDir, state: &mut u64) -> Seq {
    let mut writer = Other::start("append", dir.path());
    let mut acknowledged = Seq::START;
    for _ in 0..=random(state) % 60 {
        acknowledged = Seq(writer.next_line().unwrap().parse().unwrap());
    }
    sleep(Duration::from_micros(random(state) % 3_000));
    writer.kill();
    // What it printed between the last read and its exit is included.
    while let Some(line) = writer.next_line() {
        acknowledged = Seq(line.parse().unwrap());
    }
    acknowledged
}
