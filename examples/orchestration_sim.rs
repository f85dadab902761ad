//! Shows the two deterministic rules of orchestration for a seed: the circuit breaker and the parallel merge.
//!
//! `cargo run --example orchestration_sim -- 7` always prints the same for the same seed: how a tool's breaker opens,
//! refuses, probes and closes under made-up outcomes, and how the claims of groups that finish in different orders
//! come to the same set.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::collections::BTreeSet;
use std::process::ExitCode;

use planwright_model::Category;
use planwright_model::breaker::{
    BreakerAdmission, BreakerOutcome, BreakerState, CircuitBreaker, Millis,
};

const CALLS: usize = 24;
const GROUPS: usize = 6;
const ORDERS: usize = 5;

fn main() -> ExitCode {
    let seed = match std::env::args().nth(1).map(|word| word.parse()) {
        None => 42,
        Some(Ok(seed)) => seed,
        Some(Err(_)) => {
            eprintln!("the seed must be a whole number");
            return ExitCode::from(2);
        }
    };
    println!("seed {seed}");
    breaker(&mut Random(seed));
    if merge(&mut Random(seed)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One tool with a bad period in the middle: most calls fail then, few before and after.
fn breaker(random: &mut Random) {
    let mut breaker = CircuitBreaker::default();
    let mut now: Millis = 0;
    println!(
        "\nbreaker: opens at 3 errors, cools down for 30 s\n   time  call                 count  state"
    );
    for call in 0..CALLS {
        now += 1_000 + random.below(9_000);
        let bad_spell = (CALLS / 4..CALLS / 2).contains(&call);
        let outcome = outcome(random, if bad_spell { 90 } else { 15 });
        let words = match breaker.admit_call(now) {
            BreakerAdmission::Refused { retry_in_ms } => {
                format!("refused, {:.1} s", seconds(retry_in_ms))
            }
            admission => {
                breaker.record_outcome(outcome, now);
                let probe = if admission == BreakerAdmission::Probe { "probe: " } else { "" };
                format!("{probe}{}", word(outcome))
            }
        };
        let state = match breaker.state(now) {
            BreakerState::Closed => "closed",
            BreakerState::Open => "open",
            BreakerState::HalfOpen => "half-open",
        };
        println!("{:>7.1}  {words:<19} {:>6.1}  {state}", seconds(now), breaker.error_count());
    }
}

fn seconds(time: Millis) -> f64 {
    time as f64 / 1_000.0
}

fn outcome(random: &mut Random, failures_in_a_hundred: u64) -> BreakerOutcome {
    if random.below(100) >= failures_in_a_hundred {
        return BreakerOutcome::Success;
    }
    let categories = [Category::Critical, Category::Recoverable, Category::Transient];
    BreakerOutcome::Error(categories[random.below(3) as usize])
}

fn word(outcome: BreakerOutcome) -> &'static str {
    match outcome {
        BreakerOutcome::Success => "success",
        BreakerOutcome::Error(Category::Critical) => "critical",
        BreakerOutcome::Error(Category::Recoverable) => "recoverable",
        BreakerOutcome::Error(Category::Transient) => "transient",
    }
}

/// Groups that each add one claim of their own and some that others add too, finishing in different orders.
fn merge(random: &mut Random) -> bool {
    let groups: Vec<BTreeSet<String>> = (0..GROUPS).map(|group| claims(random, group)).collect();
    println!("\nmerge: {GROUPS} groups");
    for (number, claims) in groups.iter().enumerate() {
        println!("  group {number}: {}", listed(claims));
    }
    let mut results = BTreeSet::new();
    for _ in 0..ORDERS {
        let order = shuffled(random, GROUPS);
        let union = order.iter().fold(BTreeSet::new(), |mut union, group| {
            union.extend(groups[*group].iter().cloned());
            union
        });
        let order: Vec<String> = order.iter().map(ToString::to_string).collect();
        println!("  finished as {}: {} claims", order.join(" "), union.len());
        results.insert(union);
    }
    let every_claim = results.iter().all(|union| groups.iter().all(|group| group.is_subset(union)));
    let same = results.len() == 1 && every_claim;
    if let Some(union) = results.first() {
        println!("  union: {}", listed(union));
    }
    println!("  every order gives {} set", if same { "the same" } else { "ANOTHER" });
    same
}

fn claims(random: &mut Random, group: usize) -> BTreeSet<String> {
    let shared = 1 + random.below(3);
    let shared = (0..shared).map(|_| format!("shared-{}", random.below(5)));
    shared.chain([format!("own-{group}")]).collect()
}

fn listed(claims: &BTreeSet<String>) -> String {
    claims.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn shuffled(random: &mut Random, count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        numbers.swap(at, random.below(at as u64 + 1) as usize);
    }
    numbers
}

/// The generator of Steele and others (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound
    }
}
