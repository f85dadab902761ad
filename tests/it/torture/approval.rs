//! Kills while a screen waits for an answer, or has just received it.

use std::time::Duration;

use super::execution::resumed;
use super::{Point, Random, require_intact_store, require_kept, rows};
use crate::crash::{effects, journal};
use crate::program::{DIAMOND, Place};
use crate::screen::Terminal;

pub(super) fn try_out(seed: u64) -> Point {
    let mut random = Random(seed);
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
    terminal.shows("run this plan?");
    let mut pressed = String::new();
    // Switches views and back, and sometimes answers.
    for _ in 0..random.below(8) {
        let key = *random.pick(&["j", "k", "\t", "2", "1", "?", "\x1b", "a"]);
        terminal.keys(key);
        pressed += key;
        std::thread::sleep(Duration::from_micros(random.below(120_000)));
    }
    // Every other one is answered, once everything was seen and the card accepts keys.
    if random.below(2) == 0 {
        terminal.keys(&"j".repeat(12));
        std::thread::sleep(Duration::from_millis(400));
        terminal.keys("a");
        pressed += "the answer";
        std::thread::sleep(Duration::from_millis(random.below(900)));
    }
    let seen = rows(&place);
    std::thread::sleep(Duration::from_micros(random.below(20_000)));
    // The terminal's own way to end a child would send it a signal first.
    let pid = terminal.child.process_id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    terminal.child.wait().unwrap();
    let kept = rows(&place);
    require_kept(seed, &seen, &kept);
    require_intact_store(seed, &place);
    let effects = effects(&place.work()).len();
    let tasks: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    let (doubtful, then) = resumed(seed, &place, &journal(&place), &tasks);
    require_intact_store(seed, &place);
    Point {
        moment: format!("after {} keys", pressed.chars().count()),
        acknowledged: seen.len(),
        journaled: kept.len(),
        effects,
        in_doubt: doubtful.len(),
        then,
    }
}
