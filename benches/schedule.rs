//! Scheduling under shared resources, on the PSPLIB samples: how far above the best known makespan for how much effort.
//!
//! Effort is a count of generated schedules, so the benchmark first finds out how many take 20 ms and 1 s per instance
//! here, prints them, and then measures with exactly these. The row "rule" is the floor: serial generation by latest
//! finish with one forward-backward pass. Every schedule is verified. `-- --quick` leaves the 1 s rows out.
//!
//! The last line is separate: a roadmap of 1,000 leaves in a calendar with clock changes and days off, where one
//! person works in blocks. `-- roadmap` measures it alone.
//!
//! The data is read from `PLANWRIGHT_PSPLIB`, or else from `../shared/data/psplib` next to the package.
#![expect(clippy::print_stdout, reason = "a benchmark reports by printing")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::civil::date;
use planwright_model::{NodeDependency, NodeType, PlanContext, PlanNode, PlanOutline, Roadmap};
use planwright_rcpsp::{
    LeafLink, LeafLinkKind, RcpspProblem, RcpspSolution, SearchEffort, solve_rcpsp, verify_starts,
};
use planwright_schedule::{SCHEDULE_ITERATIONS, ScheduleRequest, schedule_roadmap};

const SEED: u64 = 1;
const SETS: [&str; 3] = ["j30", "j60", "j120"];
/// Schedules generated on each instance to find out how long one takes.
const TRIAL: u64 = 3000;

struct Instance {
    name: String,
    problem: RcpspProblem,
    best_known: u32,
}

/// The result of one level of effort on one set.
#[derive(Default)]
struct Row {
    deviations: Vec<f64>,
    gaps: Vec<f64>,
    proved: usize,
    time: Duration,
    slowest: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    if !std::env::args().any(|argument| argument == "roadmap") {
        psplib()?;
    }
    roadmap()
}

/// A roadmap of 1,000 leaves with a calendar, at several levels of effort.
fn roadmap() -> Result<(), Box<dyn Error>> {
    let mut context = PlanContext::new("a thousand leaves", date(2026, 1, 5), "Europe/Berlin");
    context.constraints.max_daily_minutes = 480;
    context.calendar.days_off.extend(
        (0..50).map(|week| date(2026, 1, 7).saturating_add(jiff::Span::new().days(14 * week))),
    );
    let roadmap = thousand_leaves(&context);
    println!("roadmap of 1,000 leaves, one person, calendar with days off and clock changes:");
    for iterations in [1, 20, SCHEDULE_ITERATIONS] {
        let request = ScheduleRequest { iterations, ..ScheduleRequest::new(&roadmap, &context) };
        let mut times = Vec::new();
        let mut blocks = 0;
        let mut end = None;
        for _ in 0..5 {
            let started = Instant::now();
            let made = schedule_roadmap(&request)?;
            times.push(started.elapsed());
            blocks = made.blocks.len();
            end = made.finish_time();
            if !made.unplaced.is_empty() {
                return Err("a leaf was not placed".into());
            }
        }
        times.sort_unstable();
        println!(
            "  {iterations:>4} iterations: {:>7.1} ms, {blocks} blocks, ends {}",
            times[times.len() / 2].as_secs_f64() * 1e3,
            end.map_or_else(String::new, |end| end.local_date().to_string()),
        );
    }
    Ok(())
}

/// Twenty-five phases of forty tasks; a task follows one before it in its phase, and phases overlap.
fn thousand_leaves(context: &PlanContext) -> Roadmap {
    let mut outline = PlanOutline::new("g", context.clone());
    let mut links = Vec::new();
    let mut state = 7u32;
    let mut below = |bound: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % bound
    };
    for p in 0..25u16 {
        let title = format!("Phase {p}");
        let mut phase =
            PlanNode::new_child(&outline.nodes[0], format!("p{p}"), NodeType::Phase, title);
        phase.position = p;
        for t in 0..40u16 {
            let id = format!("p{p}.t{t}");
            let mut task =
                PlanNode::new_child(&phase, id.clone(), NodeType::Task, format!("Task {id}"));
            task.position = t;
            task.estimate_minutes = Some(15 + 15 * below(16));
            if t > 0 {
                let before = below(u32::from(t));
                links.push(NodeDependency::finish_to_start(format!("p{p}.t{before}"), id));
            }
            outline.nodes.push(task);
        }
        if p > 1 {
            links.push(NodeDependency::finish_to_start(
                format!("p{}.t20", p - 2),
                format!("p{p}.t0"),
            ));
        }
        outline.nodes.push(phase);
    }
    Roadmap::new(&outline, links)
}

fn psplib() -> Result<(), Box<dyn Error>> {
    let root = std::env::var_os("PLANWRIGHT_PSPLIB").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/psplib"),
        PathBuf::from,
    );
    if !root.join("best_known.csv").is_file() {
        println!("skipped: no PSPLIB data at {}", root.display());
        return Ok(());
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let best_known = best_known(&root)?;
    println!(
        "set   effort   iterations  mean %  worst %  at best known  proved  bound gap %  mean ms  worst ms"
    );
    for set in SETS {
        let instances = load(&root, set, &best_known)?;
        let cost = time_per_schedule(&instances)?;
        report(set, "rule", 0, &instances)?;
        report(set, "20 ms", within(Duration::from_millis(20), cost), &instances)?;
        if !quick {
            report(set, "1 s", within(Duration::from_secs(1), cost), &instances)?;
        }
    }
    Ok(())
}

/// How many schedules fit a budget, rounded down to two digits so that runs are easy to repeat.
fn within(budget: Duration, cost: f64) -> u64 {
    let count = (budget.as_secs_f64() / cost) as u64;
    let step = 10u64.pow(count.max(10).ilog10() - 1);
    count / step * step
}

/// Seconds per generated schedule, over the instances that are not solved before the trial ends.
fn time_per_schedule(instances: &[Instance]) -> Result<f64, Box<dyn Error>> {
    let (mut time, mut count) = (Duration::ZERO, 0);
    for instance in instances {
        let started = Instant::now();
        let solution =
            solve_rcpsp(&instance.problem, SearchEffort { iterations: TRIAL, seed: SEED })?;
        if solution.iterations_used >= TRIAL {
            time += started.elapsed();
            count += solution.iterations_used;
        }
    }
    Ok(time.as_secs_f64() / count.max(1) as f64)
}

fn report(
    set: &str,
    effort: &str,
    iterations: u64,
    instances: &[Instance],
) -> Result<(), Box<dyn Error>> {
    let row = measure(iterations, instances)?;
    let count = instances.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let hits = row.deviations.iter().filter(|&&deviation| deviation <= 0.0).count();
    println!(
        "{set:<5} {effort:<7} {iterations:>11} {:>7.3} {:>8.2} {:>12.0} % {:>5.0} % {:>12.2} {:>8.1} {:>9.1}",
        mean(&row.deviations),
        row.deviations.iter().copied().fold(0.0, f64::max),
        100.0 * hits as f64 / count,
        100.0 * row.proved as f64 / count,
        mean(&row.gaps),
        row.time.as_secs_f64() * 1e3 / count,
        row.slowest.as_secs_f64() * 1e3,
    );
    Ok(())
}

fn measure(iterations: u64, instances: &[Instance]) -> Result<Row, Box<dyn Error>> {
    let mut row = Row::default();
    for instance in instances {
        let started = Instant::now();
        let solution = solve_rcpsp(&instance.problem, SearchEffort { iterations, seed: SEED })?;
        let elapsed = started.elapsed();
        row.time += elapsed;
        row.slowest = row.slowest.max(elapsed);
        check(instance, &solution)?;
        let best_known = f64::from(instance.best_known);
        row.deviations.push((f64::from(solution.makespan) / best_known - 1.0) * 100.0);
        row.gaps
            .push((f64::from(solution.makespan) / f64::from(solution.lower_bound) - 1.0) * 100.0);
        row.proved += usize::from(solution.is_optimal());
    }
    Ok(row)
}

fn check(instance: &Instance, solution: &RcpspSolution) -> Result<(), Box<dyn Error>> {
    verify_starts(&instance.problem, &solution.starts)
        .map_err(|violation| format!("{}: {violation}", instance.name))?;
    let rule = solve_rcpsp(&instance.problem, SearchEffort { iterations: 0, seed: SEED })?;
    if solution.makespan > rule.makespan {
        return Err(format!("{}: longer than by the rule alone", instance.name).into());
    }
    if solution.lower_bound > instance.best_known {
        return Err(format!("{}: the bound passes a known schedule", instance.name).into());
    }
    Ok(())
}

/// Best known makespans by instance name.
fn best_known(root: &Path) -> Result<BTreeMap<String, u32>, Box<dyn Error>> {
    let text = std::fs::read_to_string(root.join("best_known.csv"))?;
    let mut known = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if let [name, _, makespan, ..] = fields[..] {
            known.insert(name.to_owned(), makespan.parse()?);
        }
    }
    Ok(known)
}

fn load(
    root: &Path,
    set: &str,
    known: &BTreeMap<String, u32>,
) -> Result<Vec<Instance>, Box<dyn Error>> {
    let mut instances = Vec::new();
    for (name, &best_known) in known {
        let path = root.join(set).join(format!("{name}.sm"));
        if path.is_file() {
            let problem = parse(&std::fs::read_to_string(&path)?)
                .ok_or_else(|| format!("cannot read {name}"))?;
            instances.push(Instance { name: name.clone(), problem, best_known });
        }
    }
    Ok(instances)
}

/// Reads a `.sm` file, leaving out the source and the sink.
fn parse(text: &str) -> Option<RcpspProblem> {
    let successors = rows(text, "PRECEDENCE RELATIONS", 2);
    let jobs = rows(text, "REQUESTS/DURATIONS", 3);
    let capacities = rows(text, "RESOURCEAVAILABILITIES", 2).into_iter().next()?;
    let leaves = jobs.len().checked_sub(2)?;
    let leaf = |job: u32| (job as usize).checked_sub(2).filter(|&leaf| leaf < leaves);
    let mut links = Vec::new();
    for row in &successors {
        for &job in row.get(3..)? {
            if let (Some(from), Some(to)) = (leaf(row[0]), leaf(job)) {
                links.push(LeafLink { from, to, kind: LeafLinkKind::Fs, lag: 0 });
            }
        }
    }
    let inner = jobs.get(1..=leaves)?;
    let demand = |row: &Vec<u32>| row.iter().skip(3).copied().enumerate().collect();
    Some(RcpspProblem {
        durations: inner.iter().map(|row| row.get(2).copied()).collect::<Option<_>>()?,
        demands: inner.iter().map(demand).collect(),
        links,
        capacities,
        release: Vec::new(),
    })
}

/// The numbers of a section, from some lines below its title to the next line of stars.
fn rows(text: &str, title: &str, skip: usize) -> Vec<Vec<u32>> {
    let section = text.lines().skip_while(|line| !line.starts_with(title)).skip(skip);
    let numbers =
        |line: &str| line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    section.take_while(|line| !line.starts_with('*')).map(numbers).collect()
}
