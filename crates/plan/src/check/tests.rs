//! Reports as the command prints them.

use serde_json::json;

use super::*;

fn report(text: &str) -> CheckReport {
    check_plan_text(text, PlanFileFormat::Toml, "plan.toml", |tool| tool != "no.tool")
}

fn rules(report: &CheckReport) -> Vec<(&str, Option<u32>)> {
    report.violations.iter().map(|found| (found.rule.as_str(), found.line)).collect()
}

#[test]
fn a_valid_plan_is_reported_in_the_documented_shape() {
    let report =
        report("tasks = [{ id = \"b\", depends_on = [\"a\"] }, { id = \"a\", goal = \"x\" }]");
    assert_eq!(
        serde_json::to_value(&report).unwrap(),
        json!({
            "valid": true,
            "violations": [],
            "normalization": [
                {"code": "description_missing", "task_id": "b", "detail": "b has no description; its id stands in"}
            ],
            "root_tasks": ["a"],
            "execution_order": ["a", "b"],
            "critical_path": ["a", "b"],
            "critical_path_by": "tokens",
            "estimated_total_tokens": 1000,
            "layers": 2,
        })
    );
}

#[test]
fn a_start_that_a_run_waits_for_needs_no_calendar_and_a_command_no_description() {
    let plan = |run: &str, field: &str| {
        format!("[[tasks]]\nid = \"a\"\nrun = {run}\n{field} = \"2031-12-01T09:00\"\n")
    };
    let shell = "{ shell = \"true\" }";
    let local = LocalContext { tz: "UTC".into(), first_day: jiff::civil::date(2026, 1, 1) };
    let scheduled = |run: &str, field: &str| {
        let mut report = report(&plan(run, field));
        report.add_schedule(&local).unwrap();
        report
    };
    for field in ["not_before", "fixed_start"] {
        let report = scheduled(shell, field);
        assert!(report.violations.is_empty(), "{field}: {:?}", report.violations);
        assert!(report.normalization.is_empty(), "{field}: {:?}", report.normalization);
    }
    for (run, field) in [(shell, "due"), (shell, "fixed_end"), ("{ human = {} }", "not_before")] {
        let report = scheduled(run, field);
        let found: Vec<&str> = report.violations.iter().map(|one| one.rule.as_str()).collect();
        assert_eq!(found, ["G412"], "{field}");
    }
}

#[test]
fn a_violation_carries_rule_severity_tasks_message_fix_and_line() {
    let report = report(
        "[[tasks]]\nid = \"a\"\ngoal = \"x\"\ndepends_on = [\"b\"]\n[[tasks]]\nid = \"b\"\ngoal = \"x\"\ndepends_on = [\"a\"]\n",
    );
    assert_eq!(
        serde_json::to_value(&report.violations).unwrap(),
        json!([{
            "rule": "cycle",
            "severity": "fatal",
            "node_ids": ["a", "b"],
            "message": "a → b → a wait for each other",
            "suggested_fix": "Remove one of these links, for example `b` from `a`.",
            "line": 4,
        }])
    );
    assert!(!report.valid);
    assert!(report.execution_order.is_empty());
}

#[test]
fn a_missing_dependency_is_an_error() {
    let report = report("tasks = [{ id = \"a\", goal = \"x\", depends_on = [\"b\"] }]");
    assert!(!report.valid);
    assert_eq!(rules(&report), [("dependency_missing", Some(1))]);
    assert_eq!(report.normalization[0].code, "dependency_missing");
}

#[test]
fn rules_about_time_apply_if_durations_exist() {
    let text = "[[tasks]]\nid = \"a\"\nduration = 30\n[[tasks]]\nid = \"b\"\nduration = \"3d\"\n[[tasks]]\nid = \"c\"\ndepends_on = [{ task = \"a\", lag = -31 }]\n";
    let report = report(text);
    assert_eq!(rules(&report), [("G306", Some(5)), ("G301", Some(8)), ("G303", Some(9))]);
    assert!(!report.valid, "an impossible lead is repairable, not a warning");
    assert_eq!(report.plan.tasks[2].duration_minutes, Some(735));
    assert_eq!(
        report.violations[1].suggested_fix,
        "12 h 15 min is assumed, the median of the other tasks."
    );
    assert_eq!(report.critical_path_by, CriticalPathMeasure::Minutes);
    assert!(
        check_plan_text("tasks = [{ id = \"a\" }]", PlanFileFormat::Toml, "x", |_| true)
            .violations
            .is_empty()
    );
}

#[test]
fn reports_every_problem_at_once_by_line() {
    let text = "colour = 1\n[resources]\nroom = 1\n[[tasks]]\nid = \"a\"\npriority = \"x\"\n[[tasks]]\nid = \"a\"\n[[tasks]]\nid = \"b\"\ndepends_on = [\"c\", \"zzzzzz\"]\nresources = { room = 2 }\n[[tasks]]\nid = \"c\"\ndepends_on = [\"b\"]\n";
    assert_eq!(
        rules(&report(text)),
        [
            ("unknown_field", Some(1)),
            ("bad_value", Some(6)),
            ("duplicate_id", Some(8)),
            ("cycle", Some(11)),
            ("dependency_missing", Some(11)),
            ("over_capacity", Some(12)),
        ]
    );
}

#[test]
fn a_report_renders_as_readable_lines() {
    let good = report(
        "tasks = [{ id = \"a\", goal = \"x\" }, { id = \"b\", goal = \"x\", depends_on = [\"a\"] }]",
    );
    assert_eq!(
        good.render_lines("plan.toml"),
        [
            "plan.toml is a valid plan: 2 tasks, 2 layers",
            "  starts with    a",
            "  order          a, b",
            "  critical path  a › b (by tokens)",
            "  tokens         1,000 estimated",
        ]
    );
    let bad = report("[[tasks]]\nid = \"a\"\ngoal = \"x\"\ndepend_on = [\"b\"]\n");
    assert_eq!(
        bad.render_lines("plan.toml")[..4],
        [
            "plan.toml:4:1: error[unknown_field]: `tasks[0].depend_on` is not a field of a plan file",
            "    Did you mean `depends_on`?",
            "",
            "plan.toml is not a valid plan: 1 error",
        ]
    );
}

#[test]
fn the_shipped_examples_are_valid_or_invalid_as_documented() {
    let hello = report(include_str!("../../../../assets/examples/hello.toml"));
    assert_eq!((hello.valid, hello.violations.len(), hello.normalization.len()), (true, 0, 0));
    assert_eq!((hello.plan.tasks.len(), hello.layers), (6, 4));
    let release = report(include_str!("../../../../assets/examples/release.toml"));
    assert_eq!((release.valid, release.violations.len(), release.plan.tasks.len()), (true, 0, 11));
    let path: Vec<&str> = release.critical_path.iter().map(TaskId::as_str).collect();
    assert_eq!(path, ["audit", "api", "port", "announce", "publish"]);
    assert_eq!(release.critical_path_by, CriticalPathMeasure::Minutes);
    let cyclic = report(include_str!("../../../../assets/examples/cyclic.toml"));
    assert_eq!(rules(&cyclic), [("cycle", Some(13)), ("dependency_missing", Some(18))]);
}

/// Example 1 and 2 of the contracts, as a plan file.
#[test]
fn a_plan_file_with_a_calendar_has_instants_and_is_held_against_its_hours() {
    let text = |deadline: &str| {
        format!(
            "[calendar]\ntz = \"Europe/Berlin\"\nstart = 2026-06-05\ndays_off = [2026-06-10]\n{deadline}\
             [[tasks]]\nid = \"a\"\ngoal = \"x\"\nduration = \"1d\"\n\
             [[tasks]]\nid = \"b\"\ngoal = \"x\"\nduration = \"1h\"\ndepends_on = [\"a\"]\n\
             [[tasks]]\nid = \"c\"\ngoal = \"x\"\nduration = \"2h\"\n\
             depends_on = [{{ task = \"b\", lag = \"1d\", lag_basis = \"elapsed\" }}]\n\
             [[tasks]]\nid = \"d\"\ngoal = \"x\"\nduration = \"1d\"\ndepends_on = [\"c\"]\n"
        )
    };
    let local = LocalContext { tz: "UTC".into(), first_day: jiff::civil::date(2026, 1, 1) };
    let mut report = report(&text(""));
    report.add_schedule(&local).unwrap();
    let schedule = serde_json::to_value(report.schedule.unwrap()).unwrap();
    assert_eq!(schedule["tz"], "Europe/Berlin");
    let at = |task: usize| {
        let block = &schedule["blocks"][task];
        (block["start_at"].as_str().unwrap(), block["finish_at"].as_str().unwrap())
    };
    assert_eq!(at(0), ("2026-06-05T09:00:00+02:00", "2026-06-05T17:00:00+02:00"));
    assert_eq!(at(1), ("2026-06-08T09:00:00+02:00", "2026-06-08T10:00:00+02:00"));
    assert_eq!(at(2), ("2026-06-09T10:00:00+02:00", "2026-06-09T12:00:00+02:00"));
    assert_eq!(at(3), ("2026-06-09T12:00:00+02:00", "2026-06-11T12:00:00+02:00"));
    assert_eq!(
        (&schedule["blocks"][1]["start"], &schedule["blocks"][1]["finish"]),
        (&480.into(), &540.into())
    );

    let mut short = self::report(&text("deadline = 2026-06-08\n"));
    short.add_schedule(&local).unwrap();
    let found: Vec<_> = short.violations.iter().map(|found| found.rule.as_str()).collect();
    assert_eq!(found, ["G305"]);
    assert_eq!(short.violations[0].message, "Needs 19 h, 16 h available.");
    assert_eq!(short.violations[0].line, Some(1));
    assert!(short.violations[0].suggested_fix.contains("2026-06-09"), "{:?}", short.violations);
    assert!(
        short.valid
            && short
                .render_lines("plan.toml")
                .iter()
                .any(|line| line.contains("Fri 2026-06-05 09:00 to"))
    );
    let mut long = self::report(&text("horizon_weeks = 2\n"));
    long.add_schedule(&local).unwrap();
    assert!(long.violations.is_empty(), "{:?}", long.violations);
}

#[test]
fn an_unavailable_tool_does_not_affect_the_order() {
    let report = report(
        "[[tasks]]\nid = \"a\"\ntool_affinity = { \"no.tool\" = 0.9 }\n\
         [[tasks]]\nid = \"b\"\ntool_affinity = { \"file.read\" = 0.4 }\n",
    );
    let order: Vec<_> = report.execution_order.iter().map(ToString::to_string).collect();
    assert_eq!(order, ["b", "a"]);
}
