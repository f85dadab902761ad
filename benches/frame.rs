//! Times whole frames of the session screen at 200x60, with 1,000 tasks and 100,000 steps, compared with a minimal frame.
//!
//! A minimal frame is a buffer of the same size in which every cell is written once: what any program that draws a full
//! screen pays. Prints a table; the ratios are compared with the kept ones.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use planwright_model::event::{
    ApprovalEvent, CallEvent, Event, OutputStream, PlanEvent, Record, RepeatClass, RiskClass,
    RunEvent, SessionEvent, TaskEvent,
};
use planwright_model::{Actor, CallId, Digest, Plan, Seq, SessionId, TaskLink, TaskNode};
use planwright_plan::graph::resolve_graph;
use planwright_state::replay::{History, MemorySource};
use planwright_tui::{ColorDepth, KeyOverrides, SessionPreview, SessionView, Theme, UiSettings};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

const TASKS: usize = 1_000;
const STEPS: usize = 100_000;
const SIZE: (u16, u16) = (200, 60);
/// Frames of each kind; the median is used.
const FRAMES: usize = 200;
/// What a frame may cost at most.
const TARGET: Duration = Duration::from_millis(2);

fn main() {
    let mut kept = support::Kept::of("frame");
    let floor = median((0..FRAMES).map(|_| minimal()).collect());
    println!("{TASKS} tasks, {STEPS} steps, {}x{}, median of {FRAMES} frames", SIZE.0, SIZE.1);
    println!("{:<28} {:>10} {:>10}", "frame", "ms", "x minimal");
    println!("{:<28} {:>10.3} {:>10}", "minimal", ms(floor), "1.00");
    let opening = Instant::now();
    let mut preview = SessionPreview::open(view(), &settings()).expect("the session can be opened");
    println!("{:<28} {:>10.3}", "open, once", ms(opening.elapsed()));
    let mut over = Vec::new();
    for (name, keys) in [
        ("graph, boxes", &["2", "Z"][..]),
        ("graph, chips", &["Z"]),
        ("graph, dots", &["Z"]),
        ("graph, moving", &[]),
        ("outline", &["1"]),
        ("Gantt", &["3"]),
        ("table", &["5"]),
        ("trace, scrolling", &["Tab"]),
        ("trace, middle", &["PageUp"]),
    ] {
        for key in keys {
            preview.press_key(key).expect("keys are taken");
        }
        let step = if name.starts_with("trace") { "k" } else { "j" };
        let time = median((0..FRAMES).map(|_| frame(&mut preview, step)).collect());
        println!("{name:<28} {:>10.3} {:>10.2}", ms(time), ratio(time, floor));
        kept.compare(&name.replace([' ', ','], "-"), ratio(time, floor));
        if time > TARGET {
            over.push(name);
        }
    }
    if over.is_empty() {
        println!("every frame is within {} ms", TARGET.as_millis());
    } else {
        println!("OVER {} ms: {}", TARGET.as_millis(), over.join(", "));
    }
    println!("{}", kept.verdict());
}

fn minimal() -> Duration {
    let start = Instant::now();
    let mut buf = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
    let line = "x".repeat(usize::from(SIZE.0));
    for y in 0..SIZE.1 {
        buf.set_string(0, y, &line, Style::default());
    }
    std::hint::black_box(&buf);
    start.elapsed()
}

/// A key and the frame that follows it.
fn frame(preview: &mut SessionPreview, key: &str) -> Duration {
    let mut buf = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
    let start = Instant::now();
    preview.press_key(key).expect("keys are taken");
    preview.draw(&mut buf).expect("a frame can be drawn");
    let taken = start.elapsed();
    std::hint::black_box(&buf);
    taken
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn ratio(time: Duration, floor: Duration) -> f64 {
    time.as_secs_f64() / floor.as_secs_f64()
}

fn start() -> Timestamp {
    Timestamp::from_second(1_780_000_000).expect("a moment of our time")
}

fn settings() -> UiSettings {
    UiSettings {
        theme: Theme::default(),
        keys: KeyOverrides::default(),
        ascii: false,
        reduced_motion: false,
        opened_from_home: false,
        color: ColorDepth::True,
        session_budget: planwright_model::MicroDollars(2_000_000),
        now: || start() + SignedDuration::from_hours(40),
        time_zone: jiff::tz::TimeZone::UTC,
        changes: None,
        store: None,
    }
}

/// A project of layers: every task depends on a few of the previous layer.
fn plan() -> Plan {
    let width = 25;
    let task = |index: usize| {
        let mut task = TaskNode::new(format!("t{index}").as_str(), format!("Task number {index}"));
        task.duration_minutes = Some(5 + (index % 7) as u32 * 10);
        if index >= width {
            let layer = (index / width - 1) * width;
            for step in [0, 3, 11] {
                let from = layer + (index * 7 + step) % width;
                task.dependencies.push(TaskLink::finish_to_start(format!("t{from}").as_str()));
            }
        }
        task
    };
    Plan {
        title: "A large project".into(),
        tasks: (0..TASKS).map(task).collect(),
        ..Plan::default()
    }
}

fn view() -> SessionView {
    let records = records();
    let head = Seq(records.len() as u64);
    let history = History::new(MemorySource::new(records));
    let head = tokio::sync::watch::channel(head).1;
    let note = Some("watching".to_owned());
    SessionView { note, ..SessionView::new(SessionId::new("7f3a9c0d1e2f"), history, head) }
}

fn records() -> Vec<Record> {
    let plan = plan();
    let facts =
        resolve_graph(&plan.tasks, |_| true).expect("layers have no cycle").to_facts(&plan.tasks);
    let hash = plan.digest().expect("a plan has a hash");
    let mut records: Vec<Record> = Vec::with_capacity(STEPS + 100);
    let mut push = |event: Event| {
        let number = records.len() as u64 + 1;
        let at = start() + SignedDuration::from_secs(number.cast_signed());
        records.push(Record::new(Seq(number), at, event));
    };
    push(
        SessionEvent::Created {
            format: 1,
            program: "bench".into(),
            title: "A large project".into(),
            goal: None,
            workspace: "/".into(),
            plan_file: None,
        }
        .into(),
    );
    let (shared, made) = (Arc::new(plan), Arc::new(facts));
    push(
        PlanEvent::Proposed {
            revision: 1,
            hash: hash.clone(),
            plan: shared,
            facts: made,
            normalization: vec![],
        }
        .into(),
    );
    push(PlanEvent::Approved { hash: hash.clone(), by: Actor::Person }.into());
    push(RunEvent::Started { hash, jobs: 16 }.into());
    push(
        ApprovalEvent::Withdrawn { id: planwright_model::RequestId(1), why: "never asked".into() }
            .into(),
    );
    for task in 0..16 {
        let id = format!("t{task}");
        push(
            TaskEvent::Started {
                task: id.as_str().into(),
                attempt: 1,
                depth: 0,
                affinity_delta: 0.0,
            }
            .into(),
        );
        push(
            CallEvent::Intended {
                call: call(&id),
                tool: "shell.run".into(),
                version: "1.0".into(),
                input_hash: Digest::from_value(&id).expect("text has a hash"),
                input: serde_json::json!({ "command": format!("make {id}") }),
                class: RiskClass::Execute,
                repeat: RepeatClass::Unsafe,
                file: None,
            }
            .into(),
        );
    }
    for step in 0..STEPS {
        let text = format!("line {step} of what the command has to say, with a few words more\n");
        push(
            CallEvent::Output {
                call: call(&format!("t{}", step % 16)),
                stream: OutputStream::Stdout,
                text,
            }
            .into(),
        );
    }
    records
}

fn call(task: &str) -> CallId {
    CallId { task: task.into(), attempt: 1, step: 1 }
}
