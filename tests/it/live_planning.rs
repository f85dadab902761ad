//! The four cases of the design against any real model: `PLANWRIGHT_LIVE=1 cargo test --test it live_planning -- --nocapture`.
//!
//! The model is the one of your config (`PLANWRIGHT_LIVE_CONFIG` names another file). All four together may cost half a
//! dollar. A row for each is added to `live-planning.tsv` in the target directory's `tmp`.

use std::io::Write as _;
use std::process::Output;
use std::time::Instant;

use serde_json::Value;

use crate::program::{Place, json_lines};

/// What each of the four may cost at most.
const DOLLARS_EACH: f64 = 0.125;

/// Runs only on request.
fn wanted() -> bool {
    std::env::var("PLANWRIGHT_LIVE").is_ok_and(|value| value == "1")
}

/// The person's own settings, with a low cap.
fn settings() -> String {
    let named = std::env::var_os("PLANWRIGHT_LIVE_CONFIG").map(std::path::PathBuf::from);
    let path = named.or_else(planwright::config_file).expect("there is a config file");
    let text = std::fs::read_to_string(&path).expect("the config file can be read");
    let own: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("budget_per_session_usd"))
        .collect();
    format!("budget_per_session_usd = {DOLLARS_EACH}\n{}\n", own.join("\n"))
}

struct Case {
    place: Place,
    name: &'static str,
    begun: Instant,
}

impl Case {
    fn new(name: &'static str) -> Self {
        Self { place: Place::new(), name, begun: Instant::now() }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = self.place.command(args);
        std::fs::write(self.place.dir.path().join("config.toml"), settings()).unwrap();
        command.timeout(std::time::Duration::from_secs(1_800)).output().unwrap()
    }

    fn journal(&self) -> Vec<Value> {
        json_lines(&self.run(&["replay", "last", "--headless", "--json"]))
    }

    fn bodies(&self, kind: &str) -> Vec<Value> {
        let of = |record: &Value| record["event"]["body"]["kind"] == kind;
        self.journal()
            .into_iter()
            .filter(of)
            .map(|record| record["event"]["body"].clone())
            .collect()
    }

    fn shown(&self) -> Value {
        json_lines(&self.run(&["sessions", "show", "last", "--json"])).remove(0)
    }

    /// Continues offline wherever the model could not draft: that is a clean end, and the table shows it.
    fn settled(&self) -> bool {
        for _ in 0..6 {
            let shown = self.shown();
            match shown["requests"][0]["request"]["kind"]["about"].as_str() {
                None => return !shown["approval"].is_null(),
                Some("validation" | "low_confidence") => {
                    self.keep("clarification");
                    self.run(&["answer", "last", "next", "offline draft"]);
                }
                Some("final_plan") => {
                    self.run(&["answer", "last", "next", "approve and stop"]);
                }
                Some("questions") => {
                    self.run(&["answer", "last", "next", "skip"]);
                }
                Some("escalation") => {
                    self.run(&["answer", "last", "next", "accept late"]);
                }
                Some("planning_cap") => {
                    self.keep("cap");
                    let output = self.run(&["answer", "last", "next", "go on offline"]);
                    if output.status.code() == Some(2) {
                        self.run(&["answer", "last", "next", "continue"]);
                    }
                }
                Some(_) => {
                    self.run(&["answer", "last", "next", "approve"]);
                }
            }
        }
        !self.shown()["approval"].is_null()
    }

    /// Adds a row to the table.
    fn keep(&self, reached: &str) {
        let shown = self.shown();
        let drafter = self.bodies("began").first().map(|body| body["drafter"].clone());
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("live-planning.tsv");
        let mut table = std::fs::File::options().create(true).append(true).open(path).unwrap();
        let row = format!(
            "{}\t{}\t{}\t{reached}\t{}\t{}\t{}",
            jiff::Timestamp::now(),
            self.name,
            drafter.unwrap_or_default(),
            shown["tokens"],
            shown["cost_usd"],
            self.begun.elapsed().as_secs()
        );
        writeln!(table, "{row}").unwrap();
        assert!(shown["cost_usd"].as_f64().unwrap_or(0.0) <= DOLLARS_EACH, "the cap held");
    }
}

#[test]
fn live_a_daily_protocol_gets_a_valid_schedule() {
    if !wanted() {
        return;
    }
    let case = Case::new("protocol_routine");
    case.run(&["plan", "take medication every day at 8", "--headless", "--yes"]);
    assert!(case.settled());
    case.keep("complete");
    let schedules = case.bodies("schedule_drafted");
    assert!(!schedules.last().unwrap()["schedule"]["blocks"].as_array().unwrap().is_empty());
}

#[test]
fn live_a_launch_records_the_options_it_tried() {
    if !wanted() {
        return;
    }
    let case = Case::new("milestone_project");
    case.run(&["plan", "launch a newsletter in 6 weeks", "--headless", "--yes"]);
    assert!(case.settled());
    case.keep("complete");
    let roadmaps = case.bodies("roadmap_drafted");
    let options = roadmaps.last().unwrap()["roadmap"]["options_tried"].as_array().unwrap().clone();
    assert!((2..=3).contains(&options.len()));
    assert_eq!(options.iter().filter(|option| option["chosen"] == true).count(), 1);
}

#[test]
fn live_a_proposed_subtype_waits_for_the_person_and_completes() {
    if !wanted() {
        return;
    }
    let case = Case::new("rfc");
    // The goal names the subtype, so that the pause does not depend on the model: offline it is always proposed.
    let goal = "take my vitamins every day at 8 proposed:daily_health_protocol_v2";
    case.run(&[
        "plan",
        goal,
        "--headless",
        "--policy",
        "approval_policy=single_final",
        "--answer",
        "skip",
    ]);
    let asked = case.shown()["requests"][0]["request"]["kind"]["about"].clone();
    if asked == "rfc" {
        let moved = case.bodies("moved");
        assert!(moved.iter().any(|body| body["outcome"] == "rfc_pending"));
        case.run(&["answer", "last", "next", "approve"]);
    }
    assert!(case.settled());
    case.keep(if asked == "rfc" { "rfc, complete" } else { "complete without an rfc" });
}

#[test]
fn live_styles_change_the_wording_and_not_the_contract() {
    if !wanted() {
        return;
    }
    for (name, policy) in [
        ("concise/high", ["conversation_style=concise", "autonomy=high"]),
        (
            "conversational",
            ["conversation_style=conversational", "brainstorming_preference=always_offer"],
        ),
    ] {
        let case = Case::new(name);
        let goal = "learn Rust, 5 hours a week";
        case.run(&[
            "plan",
            goal,
            "--headless",
            "--yes",
            "--policy",
            policy[0],
            "--policy",
            policy[1],
        ]);
        assert!(case.settled());
        let ideas = case.bodies("ideas_offered");
        case.keep("complete");
        if name == "conversational" {
            assert_eq!(ideas[0]["ideas"].as_array().unwrap().len(), 3);
        } else {
            assert!(ideas.is_empty());
        }
    }
}
