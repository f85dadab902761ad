//! What a first plan costs without a model: the goal is read, its kind chosen, the outline drafted, the roadmap built
//! and every task given its hours.
//!
//! The floor beside it is the schedule alone: the same roadmap is given its hours again, without reading, matching and
//! drafting. The ratio tells what the planner adds to it. The goal is 100 ms for an ordinary goal; the blueprints are
//! parsed once for all goals, which is printed apart.
#![expect(clippy::print_stdout, reason = "a benchmark reports by printing")]
#![expect(unreachable_pub, reason = "a benchmark has no outside")]

#[path = "support/mod.rs"]
mod support;

use std::error::Error;
use std::time::{Duration, Instant};

use jiff::civil::{Date, date};
use planwright_drafting::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};
use planwright_model::{PlanContext, Roadmap};
use planwright_schedule::{ScheduleRequest, schedule_roadmap};

use support::Kept;

/// A Tuesday.
const TODAY: Date = date(2026, 11, 17);
/// How often each goal is planned; the median counts.
const ROUNDS: usize = 9;
const GOAL: Duration = Duration::from_millis(100);

/// The goals with their names among the kept ratios.
const GOALS: [(&str, &str); 8] = [
    ("newsletter", "launch a newsletter in 6 weeks"),
    ("course", "learn Rust, 5 hours a week"),
    ("training", "marathon training 16 weeks"),
    ("routine", "weekly review every Friday"),
    ("wedding", "wedding on 2027-06-12 for 80 guests"),
    ("fleet", "migrate 200 servers from Debian 11 to 12"),
    ("move", "move house"),
    ("small-task", "finish the report tomorrow"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let library = TemplateLibrary::built_in();
    println!("blueprints, parsed once: {:.1} ms\n", milliseconds(started.elapsed()));
    println!("{:<44} {:>6} {:>10} {:>10} {:>14}", "goal", "tasks", "ours", "floor", "ours/floor");
    let mut kept = Kept::of("planning");
    let mut slowest = Duration::ZERO;
    for (name, goal) in GOALS {
        let (context, roadmap) = draft_plan(goal, &library)?;
        let tasks = roadmap.node_tree().leaves(&roadmap.root_id).len();
        let (mut ours, mut floor) = (Vec::new(), Vec::new());
        // Both sides take turns, so that a busy machine slows both.
        for _ in 0..ROUNDS {
            ours.push(measure(|| {
                let (context, roadmap) = draft_plan(goal, &library)?;
                schedule_plan(&context, &roadmap)
            })?);
            floor.push(measure(|| schedule_plan(&context, &roadmap))?);
        }
        let (ours, floor) = (median(ours), median(floor));
        let ratio = ours.as_secs_f64() / floor.as_secs_f64().max(f64::MIN_POSITIVE);
        slowest = slowest.max(ours);
        kept.compare(name, ratio);
        println!(
            "{goal:<44} {tasks:>6} {:>7.1} ms {:>7.1} ms {ratio:>14.2}",
            milliseconds(ours),
            milliseconds(floor)
        );
    }
    let verdict = if slowest < GOAL { "met" } else { "MISSED" };
    println!("\nslowest {:.1} ms, goal 100 ms: {verdict}", milliseconds(slowest));
    println!("{}", kept.verdict());
    Ok(())
}

/// Reads a goal and drafts its plan, without hours.
fn draft_plan(
    goal: &str,
    library: &TemplateLibrary,
) -> Result<(PlanContext, Roadmap), Box<dyn Error>> {
    let context = PlanContext::new(goal, TODAY.tomorrow()?, "Europe/Berlin");
    let draft = draft_outline(context, library, TODAY, SubtypeProposals::Off)?;
    let built = build_roadmap(&draft.outline, library, RoadmapPreferences::default())?;
    Ok((draft.outline.plan_context, built.roadmap))
}

fn schedule_plan(context: &PlanContext, roadmap: &Roadmap) -> Result<(), Box<dyn Error>> {
    schedule_roadmap(&ScheduleRequest::new(roadmap, context))?;
    Ok(())
}

fn measure(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
