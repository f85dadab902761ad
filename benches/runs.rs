//! Runs beside what people use instead, as `execution.md` states the goals: commands that do nothing beside `make -j8`, output
//! beside `command | zstd > file`, a check beside Python's json and graphlib. Then how soon output is on an attached screen, and the
//! layout of a large graph.
//!
//! Ours and the peer take turns, and the medians are compared. A peer that is not installed is reported and left out.
//! `cargo bench --bench runs -- output` runs one part. `PLANWRIGHT_BENCH_SMALL=1` does a fiftieth of the work, to see that all
//! parts run; its figures mean nothing and are not compared.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

#[path = "runs/attached_screen.rs"]
mod attached_screen;
mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::Kept;
use tempfile::TempDir;

const JOBS: &str = "8";
/// What a printed line ends in, so that it has about a hundred bytes.
const DOTS: &str = "............................................................................";

/// How much is done of what is stated.
fn scaled(count: usize) -> usize {
    if is_small() { (count / 50).max(4) } else { count }
}

fn is_small() -> bool {
    std::env::var_os("PLANWRIGHT_BENCH_SMALL").is_some()
}

fn main() {
    let only = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    let wanted = |part: &str| only.as_deref().is_none_or(|only| part.contains(only));
    let mut kept = Kept::of("runs");
    if wanted("commands") {
        commands(&mut kept);
    }
    if wanted("output") {
        output(&mut kept);
    }
    if wanted("check") {
        check(&mut kept);
    }
    if wanted("screen") {
        screen(&mut kept);
    }
    if wanted("layout") {
        layout(&mut kept);
    }
    if is_small() {
        println!("small: every part ran, the figures mean nothing");
    } else {
        println!("{}", kept.verdict());
    }
}

fn planwright(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command.args(args).args(["--data-dir"]).arg(dir.join("data")).arg("--config");
    command.arg(dir.join("config.toml")).current_dir(dir).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    std::fs::write(dir.join("config.toml"), "").unwrap();
    command
}

/// How long a command takes that must succeed.
fn time(mut command: Command) -> Duration {
    let begun = Instant::now();
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?} ended with {status}");
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The medians of two sides that take turns.
fn medians(
    rounds: usize,
    ours: impl Fn() -> Duration,
    peer: impl Fn() -> Duration,
) -> (Duration, Duration) {
    let mut all = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        all.0.push(ours());
        all.1.push(peer());
    }
    (median(all.0), median(all.1))
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        println!("{program} is not installed; that part is left out");
    }
    found
}

/// Commands that do nothing, with eight at once, each durable before and after it ran.
fn commands(kept: &mut Kept) {
    if !is_installed("make") {
        return;
    }
    println!(
        "commands: wall time of no-op commands, {JOBS} at once, beside make -j{JOBS} (goal 1.25)"
    );
    for (count, rounds) in [(1_000, 5), (10_000, 3)] {
        let count = scaled(count);
        let dir = TempDir::new().unwrap();
        let mut plan = "version = 2\ntitle = \"Nothing\"\n".to_owned();
        let mut makefile = "all:".to_owned();
        for task in 0..count {
            let _ = write!(plan, "[[tasks]]\nid = \"t{task}\"\nrun = {{ shell = \"true\" }}\n");
            let _ = write!(makefile, " t{task}");
        }
        makefile.push('\n');
        for task in 0..count {
            // What a shell has to run, as ours has.
            let _ = writeln!(makefile, "t{task}:\n\t@:; true\n.PHONY: t{task}");
        }
        std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
        std::fs::write(dir.path().join("Makefile"), makefile).unwrap();
        let ours = || {
            let run = ["run", "plan.toml", "--headless", "--yes", "--quiet", "--jobs", JOBS];
            let took = time(planwright(dir.path(), &run));
            std::fs::remove_dir_all(dir.path().join("data")).unwrap();
            took
        };
        let peer = || {
            let mut make = Command::new("make");
            make.arg("-j").arg(JOBS).arg("-s").current_dir(dir.path()).stdout(Stdio::null());
            time(make)
        };
        let (own, make) = medians(rounds, ours, peer);
        let ratio = own.as_secs_f64() / make.as_secs_f64();
        println!(
            "  {count:>6} commands: ours {own:>8.2?}   make {make:>8.2?}   ours/make {ratio:.2}"
        );
        kept.compare(&format!("commands-{count}-beside-make"), ratio);
    }
}

/// A command that prints 100 MB, as lines.
fn output(kept: &mut Kept) {
    if !is_installed("zstd") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let mut text = String::new();
    let lines = scaled(1_000_000);
    for line in 0..lines {
        let _ = writeln!(text, "line {line} of the log {DOTS}");
    }
    let megabytes = text.len() as f64 / 1e6;
    std::fs::write(dir.path().join("log.txt"), text).unwrap();
    // Slow enough to be a program that makes its lines, and a file that is only copied.
    let made = format!(
        "awk 'BEGIN {{ for (i = 0; i < {lines}; i++) print \"line \" i \" of the log {DOTS}\" }}'"
    );
    println!("output: {megabytes:.0} MB, throughput beside command | zstd > file (goal 0.8)");
    for (name, command) in [("printed by awk", made.as_str()), ("copied by cat", "cat log.txt")] {
        let plan =
            format!("version = 2\n[[tasks]]\nid = \"a\"\nrun = {{ shell = '''{command}''' }}\n");
        std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
        let ours = || {
            let run = ["run", "plan.toml", "--headless", "--yes", "--quiet"];
            let took = time(planwright(dir.path(), &run));
            std::fs::remove_dir_all(dir.path().join("data")).unwrap();
            took
        };
        let peer = || {
            let mut shell = Command::new("sh");
            shell
                .arg("-c")
                .arg(format!("{command} | zstd -q -f -o log.zst"))
                .current_dir(dir.path());
            time(shell)
        };
        let (own, zstd) = medians(5, ours, peer);
        let ratio = zstd.as_secs_f64() / own.as_secs_f64();
        println!("  {name:<15} ours {own:>8.2?}   zstd {zstd:>8.2?}   ours/zstd {ratio:.2}");
        kept.compare(&format!("time-of-output-{}", name.replace(' ', "-")), 1.0 / ratio);
    }
}

/// A file of 10,000 tasks on one line.
fn check(kept: &mut Kept) {
    if !is_installed("python3") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let task = |number: usize| {
        let needs = [number.checked_sub(1), number.checked_sub(7), number.checked_sub(40)];
        let needs: Vec<String> =
            needs.iter().flatten().map(|on| format!("\"task-{on}\"")).collect();
        format!(
            "{{\"id\":\"task-{number}\",\"description\":\"Step {number}\",\"run\":{{\"shell\":\"echo {number}\"}},\"depends_on\":[{}]}}",
            needs.join(",")
        )
    };
    let tasks: Vec<String> = (0..scaled(10_000)).map(task).collect();
    let text = format!("{{\"title\":\"Large\",\"tasks\":[{}]}}", tasks.join(","));
    std::fs::write(dir.path().join("plan.json"), text).unwrap();
    let script = "import json, graphlib\nd = json.load(open('plan.json'))\n\
        g = {t['id']: t['depends_on'] for t in d['tasks']}\nprint(len(list(graphlib.TopologicalSorter(g).static_order())))\n";
    std::fs::write(dir.path().join("order.py"), script).unwrap();
    let ours = || time(planwright(dir.path(), &["check", "plan.json", "--json"]));
    let peer = || {
        let mut python = Command::new("python3");
        python.arg("order.py").current_dir(dir.path()).stdout(Stdio::null());
        time(python)
    };
    let (own, python) = medians(11, ours, peer);
    let ratio = own.as_secs_f64() / python.as_secs_f64();
    println!("check: 10,000 tasks on one line beside Python's json and graphlib (goal 0.5)");
    println!("  ours {own:.2?}   python {python:.2?}   ours/python {ratio:.2}");
    kept.compare("check-10000-beside-python", ratio);
}

/// How long after it was written a line is on a screen in another process.
fn screen(kept: &mut Kept) {
    const GOAL: Duration = Duration::from_millis(50);
    let mut times = attached_screen::first_line_times(if is_small() { 5 } else { 40 });
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    println!("screen: from the write to an attached screen (goal 50 ms)");
    let ratio = at(95).as_secs_f64() / GOAL.as_secs_f64();
    println!(
        "  p50 {:.1?}   p95 {:.1?}   max {:.1?}   p95/goal {ratio:.2}",
        at(50),
        at(95),
        at(100)
    );
    kept.compare("first-line-p95-beside-goal", ratio);
}

/// A graph of 10,000 nodes.
fn layout(kept: &mut Kept) {
    const GOAL_MS: f64 = 300.0;
    let dir = TempDir::new().unwrap();
    let mut plan = "title = \"Large\"\n".to_owned();
    for task in 0..scaled(10_000) {
        let _ = write!(plan, "[[tasks]]\nid = \"t{task}\"\nrun = {{ shell = \"true\" }}\n");
        if let Some(on) = task.checked_sub(100) {
            let _ = writeln!(
                plan,
                "depends_on = [\"t{on}\", \"t{}\"]",
                on / 100 * 100 + (task * 7) % 100
            );
        }
    }
    std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let mut command = planwright(dir.path(), &["graph", "plan.toml", "--stats", "--json"]);
    let stats = command.stdout(Stdio::piped()).output().unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).unwrap();
    println!("layout: 10,000 nodes, {} links (goal 300 ms)", stats["edges"]);
    let took = stats["layout_ms"].as_f64().unwrap();
    println!("  {took:.0} ms   ours/goal {:.2}", took / GOAL_MS);
    kept.compare("layout-10000-beside-goal", took / GOAL_MS);
}
