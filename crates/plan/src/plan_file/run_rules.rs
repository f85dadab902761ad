//! Fields that a run could not obey where they stand: they are refused, with the place and what to write instead.

use super::decoder::PlanFileDecoder;
use super::task::LocatedTask;
use planwright_model::{
    ExitCriterion, NodeOrigin, Plan, RunCondition, RunKind, SandboxChoice, Severity, Violation,
};

/// Fields that only commands have.
const COMMAND_FIELDS: [&str; 14] = [
    "shell",
    "env",
    "cwd",
    "retries",
    "outputs",
    "artifacts",
    "env_file",
    "pass_env",
    "secrets",
    "inputs",
    "cache",
    "service",
    "interactive",
    "on",
];

/// Reports what a run could not obey.
pub(super) fn check_run_rules(
    decoder: &mut PlanFileDecoder<'_>,
    plan: &Plan,
    placed: &[LocatedTask],
) {
    let timed = placed.iter().any(|placed| placed.task.duration_minutes.is_some());
    for placed in placed {
        if decoder.is_full() {
            return;
        }
        check_scheduled_time(decoder, plan, timed, placed);
        check_criteria(decoder, placed);
        check_settings(decoder, placed);
    }
    check_services(decoder, placed);
}

/// A service that nothing depends on would run for nobody.
fn check_services(decoder: &mut PlanFileDecoder<'_>, placed: &[LocatedTask]) {
    let is_needed = |service: &LocatedTask| {
        let mut links = placed.iter().flat_map(|other| &other.links);
        links.any(|(link, _)| link.task == service.task.id)
    };
    for service in placed.iter().filter(|one| one.task.options.service.is_some()) {
        if !is_needed(service) {
            let message = format!("`{}` is a service that nothing depends on", service.task.id);
            let fix = "Add it to `depends_on` of the tasks that need it.";
            let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
            let violation = violation.with_nodes([service.task.id.clone()]);
            decoder.report_violation(violation, service.place("service"));
        }
    }
}

/// Settings of commands on tasks that run none, and conditions that nothing can meet.
fn check_settings(decoder: &mut PlanFileDecoder<'_>, placed: &LocatedTask) {
    let task = &placed.task;
    let mut report = |field: &str, problem: &str, fix: &str| {
        let message = format!("`{}` {problem}", task.id);
        let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
        decoder.report_violation(violation.with_nodes([task.id.clone()]), placed.place(field));
    };
    if !matches!(task.run, RunKind::Shell(_)) {
        for field in COMMAND_FIELDS {
            if placed.states(field) {
                let problem = format!("has `{field}`, which is for commands");
                let fix = format!("Remove `{field}`, or write run = {{ shell = \"…\" }}.");
                report(field, &problem, &fix);
            }
        }
    }
    if task.options.cache && task.options.inputs.is_empty() {
        let problem = "has `cache`, but no `inputs` that could change";
        report("cache", problem, "Add inputs = [\"src/**\"].");
    } else if !task.options.inputs.is_empty() && !task.options.cache {
        let problem = "has `inputs`, which only `cache` looks at";
        report("inputs", problem, "Add cache = true, or remove `inputs`.");
    }
    if task.options.service.is_some() {
        for field in ["retries", "outputs", "artifacts", "cache", "exit_criteria", "when"] {
            if placed.states(field) {
                let problem = format!("is a service, for which `{field}` has no meaning");
                report(field, &problem, &format!("Remove `{field}`."));
            }
        }
    }
    if task.options.interactive {
        let others = [
            ("service", task.options.service.is_some()),
            ("cache", task.options.cache),
            ("sandbox", task.sandbox == SandboxChoice::Workspace),
        ];
        for (field, is_stated) in others {
            if is_stated {
                let problem = format!("has the terminal, which does not go with `{field}`");
                let fix = format!("Remove `{field}`, or remove `interactive`.");
                report("interactive", &problem, &fix);
            }
        }
    }
    if !task.options.executor.is_empty() && task.sandbox == SandboxChoice::Workspace {
        let problem = "runs on an executor, which its sandbox does not reach";
        report("on", problem, "Remove `sandbox`, or remove `on`.");
    }
    if task.continue_on_error && matches!(task.run, RunKind::Human {}) {
        let problem = "is a task of yours, which does not fail by itself";
        report("continue_on_error", problem, "Remove `continue_on_error`.");
    }
    if task.when != RunCondition::Success && placed.links.is_empty() {
        let problem = "runs after a failure or an end, but depends on nothing";
        report("when", problem, "Add `depends_on` with the tasks to watch.");
    }
}

fn check_scheduled_time(
    decoder: &mut PlanFileDecoder<'_>,
    plan: &Plan,
    timed: bool,
    placed: &LocatedTask,
) {
    let task = &placed.task;
    // A task that was drafted brings its start with it.
    if !task.at_scheduled_time || task.metadata.contains_key("first_start") {
        return;
    }
    let (problem, fix) = if matches!(task.run, RunKind::Human {}) {
        ("is a task of yours, which no schedule starts", "Remove `at_scheduled_time`.")
    } else if plan.calendar.is_none() {
        (
            "starts at its scheduled time, but the plan has no calendar",
            "Add a [calendar], or write `not_before` with a date and a time.",
        )
    } else if !timed {
        (
            "starts at its scheduled time, but no task has a duration",
            "Add a `duration`, such as \"30m\", or write `not_before` with a date and a time.",
        )
    } else {
        return;
    };
    let message = format!("`{}` {problem}", task.id);
    let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
    decoder.report_violation(
        violation.with_nodes([task.id.clone()]),
        placed.place("at_scheduled_time"),
    );
}

/// Nobody judges what a command did: only what can be looked up is checked.
fn check_criteria(decoder: &mut PlanFileDecoder<'_>, placed: &LocatedTask) {
    let task = &placed.task;
    if !matches!(task.run, RunKind::Shell(_)) {
        return;
    }
    let is_judged = |one: &ExitCriterion| matches!(one, ExitCriterion::Judged { .. });
    let fix = "Write { kind = \"command\", command = \"…\" } or { kind = \"file_exists\", path = \"…\" }.";
    let id = &task.id;
    let violation = if task.exit_criteria.iter().any(is_judged)
        && task.origin != NodeOrigin::AiAdaptation
    {
        let message = format!("`{id}` is a command, and nobody judges what it did");
        Violation::new("bad_value", Severity::Fatal, message, fix)
    } else if task.exit_criteria.iter().any(|one| !one.is_checkable()) {
        let message = format!("`{id}` is a command; a criterion in words is shown and not checked");
        Violation::new("unchecked_criterion", Severity::Warning, message, fix)
    } else {
        return;
    };
    decoder.report_violation(violation.with_nodes([id.clone()]), placed.place("exit_criteria"));
}
