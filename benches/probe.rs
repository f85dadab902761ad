//! The program in a pseudo-terminal compared with a minimal ratatui program, in the same run: start to the first full frame,
//! key to screen while tasks run, processor use at rest, memory with a large session.
//!
//! Both sides run in terminals of the same size and take turns, so that other load on the machine affects both. A time
//! ends when the bytes arrive that make the screen show the expected text; parsing them costs neither side anything.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

#[path = "probe/minimal.rs"]
mod minimal;
#[path = "probe/plans.rs"]
mod plans;
mod support;
#[path = "probe/terminal.rs"]
mod terminal;

use std::path::Path;
use std::time::Duration;

use support::Kept;
use terminal::{Program, Terminal};

/// How often a start is measured; the median is used.
const STARTS: usize = 15;
/// Keys of each side, in turns of [`TURN`].
const KEYS: usize = 800;
const TURN: usize = 50;
/// How long processor use is measured.
const REST: Duration = Duration::from_secs(10);

fn main() {
    if minimal::is_meant() {
        return minimal::run();
    }
    let place = tempfile::tempdir().unwrap();
    let (empty, medium, large) =
        (place.path().join("empty"), place.path().join("medium"), place.path().join("large"));
    plans::place(&empty);
    plans::save(&medium, 300);
    plans::save(&large, 1_000);
    let mut kept = Kept::of("probe");
    starts(&empty, &medium, &mut kept);
    keys(place.path(), &mut kept);
    rest(&empty, &medium);
    memory(&large);
    println!("{}", kept.verdict());
}

/// Start to the first full frame: an empty home screen and a session of 300 tasks.
fn starts(empty: &Path, medium: &Path, kept: &mut Kept) {
    let [mut peer, mut home, mut session] = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..STARTS {
        peer.push(Terminal::start(&Program::minimal()).first(minimal::READY));
        home.push(Terminal::start(&Program::planwright(empty, &[])).first("Esc leave the box"));
        // A session that was closed cleanly; the last one was killed, and its log would have to be read first.
        let fresh = medium.with_extension(number.to_string());
        plans::copy(medium, &fresh);
        let resume = Program::planwright(&fresh, &["resume", "last"]);
        // A full frame includes the graph of the plan.
        session.push(Terminal::start(&resume).first_without("? help", "laying it out"));
    }
    println!(
        "start to first full frame, median of {STARTS}, {}x{}",
        terminal::COLS,
        terminal::ROWS
    );
    let floor = median(peer);
    println!("  {:<28} {:>9.2} ms", "minimal program", ms(floor));
    for (name, times, goal) in [("empty home", home, 1.5), ("session of 300 tasks", session, 2.0)] {
        let time = median(times);
        let ratio = time.as_secs_f64() / floor.as_secs_f64();
        println!(
            "  {name:<28} {:>9.2} ms  {ratio:>5.2}x  (goal {goal}x: {}; never above 50 ms: {})",
            ms(time),
            goal_verdict(ratio <= goal),
            goal_verdict(ms(time) <= 50.0)
        );
        kept.compare(&format!("start-{}", name.replace(' ', "-")), ratio);
    }
}

/// Key to screen while sixteen tasks write without a pause.
fn keys(place: &Path, kept: &mut Kept) {
    let plan = plans::busy(place);
    let data = place.join("busy");
    plans::place(&data);
    let mut peer = Terminal::start(&Program::minimal());
    peer.first(minimal::READY);
    let args = ["run", plan.as_str(), "--yes", "--jobs", "16"];
    let mut planwright = Terminal::start(&Program::planwright(&data, &args));
    planwright.first("now 16 of 16");
    let (mut theirs, mut times) = (Vec::new(), Vec::new());
    for _ in 0..KEYS / TURN {
        theirs.extend(turn(&mut peer));
        times.extend(turn(&mut planwright));
    }
    planwright.quit();
    println!("key to screen, {KEYS} keys each, sixteen tasks writing");
    let row = |name: &str, times: &[Duration]| {
        let at = |share: f64| ms(times[((times.len() - 1) as f64 * share).round() as usize]);
        println!(
            "  {name:<28} p50 {:>6.2}  p95 {:>6.2}  p99 {:>6.2}  max {:>6.2} ms",
            at(0.5),
            at(0.95),
            at(0.99),
            at(1.0)
        );
        at(0.95)
    };
    theirs.sort();
    times.sort();
    let (floor, p95) = (row("minimal program", &theirs), row("session screen", &times));
    println!(
        "  p95 {:.2}x of the minimal program (goal 2x: {}; never above 16 ms: {})",
        p95 / floor,
        goal_verdict(p95 <= 2.0 * floor),
        goal_verdict(p95 <= 16.0)
    );
    kept.compare("key-p95", p95 / floor);
}

/// Switches between two views and back; each switch is a key and the frame that shows it.
fn turn(terminal: &mut Terminal) -> Vec<Duration> {
    (0..TURN)
        .map(|number| {
            let (key, shows) =
                if number % 2 == 0 { ("5", "━━ table ") } else { ("2", "━━ graph ") };
            terminal.key(key, shows)
        })
        .collect()
}

/// Processor use while nothing happens.
fn rest(empty: &Path, medium: &Path) {
    println!("processor use at rest, over {} s", REST.as_secs());
    for (name, data, args, shows) in [
        ("empty home", empty, &[][..], "Esc leave the box"),
        ("session of 300 tasks", medium, &["resume", "last"][..], "? help"),
    ] {
        let mut terminal = Terminal::start(&Program::planwright(data, args));
        terminal.first(shows);
        match terminal.processor_use(REST) {
            Some(share) => {
                println!(
                    "  {name:<28} {share:>6.2} %  (goal 0.5 %: {})",
                    goal_verdict(share <= 0.5)
                );
            }
            None => println!("  {name}: this system does not say; skipped"),
        }
    }
}

/// Resident memory with a session of 1,000 tasks on the screen.
fn memory(large: &Path) {
    let mut terminal = Terminal::start(&Program::planwright(large, &["resume", "last"]));
    terminal.first("? help");
    match terminal.resident_bytes() {
        Some(bytes) => {
            let megabytes = bytes as f64 / 1e6;
            println!(
                "memory with 1,000 tasks: {megabytes:.1} MB  (goal 25 MB: {})",
                goal_verdict(megabytes <= 25.0)
            );
        }
        None => println!("memory: this system does not say; skipped"),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn goal_verdict(is_met: bool) -> &'static str {
    if is_met { "holds" } else { "MISSED" }
}
