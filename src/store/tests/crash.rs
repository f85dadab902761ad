//! Killed at any moment, the store keeps what it acknowledged.

use std::thread::sleep;
use std::time::Duration;

use super::child::Other;
use super::*;

/// A small generator, so that a failing point can be run again.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn what_was_acknowledged_survives_a_kill_at_any_point() {
    let dir = temporary();
    drop(start(&open(&dir), "a1"));
    let mut state = 0x5eed_0047;
    for point in 0..10 {
        let acknowledged = run_and_kill(&dir, &mut state);
        let store = open(&dir);
        let reader = store.reader().unwrap();
        let head = reader.head(&id("a1")).unwrap();
        assert!(head >= acknowledged, "point {point}: {head} kept, {acknowledged} acknowledged");
        assert_eq!(reader.rows(&id("a1"), Seq(1)..=head).unwrap(), rows(1..=head.0));
        let (at, state) = reader.nearest_checkpoint(&id("a1"), head).unwrap().unwrap();
        assert_eq!(state, format!("state at {at}").into_bytes());
        assert_eq!(store.integrity(Depth::Full).unwrap().problems, Vec::<String>::new());
        let journal = store.acquire(&id("a1")).unwrap();
        assert_eq!(journal.head(), head);
    }
}

fn run_and_kill(dir: &TempDir, state: &mut u64) -> Seq {
    let mut writer = Other::start("append", dir.path());
    let mut acknowledged = Seq::START;
    for _ in 0..=random(state) % 60 {
        acknowledged = Seq(writer.says().unwrap().parse().unwrap());
    }
    sleep(Duration::from_micros(random(state) % 3_000));
    writer.kill();
    // What it said between the last look and its end counts as well.
    while let Some(line) = writer.says() {
        acknowledged = Seq(line.parse().unwrap());
    }
    acknowledged
}
