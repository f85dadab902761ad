//! `planwright check`: what is wrong with a plan file, and what it resolves to.

use std::path::PathBuf;

use clap::Args;

use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use crate::plan_source::{
    describe_secret, read_included, read_plan_text, read_variable, split_params,
};
use planwright_model::{Severity, Violation};
use planwright_plan::plan_file::{PlanFileFormat, PlanFileInputs};
use planwright_plan::plan_file_schedule::LocalContext;
use planwright_plan::{check, grammar};
use planwright_tools::builtin;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The plan file (TOML, JSON or a Markdown checklist)
    #[arg(value_name = "PLAN-FILE", required_unless_present = "explain")]
    file: Option<PathBuf>,
    /// Values for parameters of the file; those that are missing are left open
    #[arg(value_name = "PARAM=VALUE")]
    params: Vec<String>,
    /// Explain a rule, such as G111
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
}

pub(super) fn execute_check(shared: &SharedArgs, args: &CheckArgs) -> anyhow::Result<CliExit> {
    let Some(file) = &args.file else {
        return explain_rule(args.explain.as_deref().unwrap_or_default());
    };
    let (name, text) = read_plan_text(file).map_err(|error| super::run::plan_problem(&error))?;
    // The built-in tools of all features and no others, so that the answer is the same on every machine.
    let tools = builtin::builtin_registry();
    let (params, rest) = split_params(&args.params);
    if let Some(word) = rest.first() {
        return Err(CliProblem::usage(format!("`{word}` is not a value of a parameter"))
            .with_remedy("write NAME=VALUE; check looks at all tasks of a file")
            .into());
    }
    let include = |name: &str| read_included(file, name);
    // Whether a plan is valid does not depend on settings that cannot be read; only their secrets and agents are unknown then.
    let app = App::settings_only(shared).ok();
    let redactor = app.as_ref().map(App::redactor).unwrap_or_default();
    let find_secret = |text: &str| describe_secret(text, &redactor);
    let inputs = PlanFileInputs {
        params,
        env: &read_variable,
        include: &include,
        find_secret: &find_secret,
        needs_all: false,
        allow_missing: false,
        agents: app.as_ref().map(App::agent_names),
        executors: app.as_ref().map(App::executor_names),
        task_types: app.as_ref().map(App::task_type_names).unwrap_or_default(),
    };
    let format = PlanFileFormat::detect(&name, &text);
    let mut report = check::check_with_inputs(&text, format, &name, &inputs, |tool| {
        builtin::is_known_builtin(&tools, tool)
    });
    report.add_schedule(&LocalContext::from_clock(&jiff::Zoned::now()))?;
    let mut out = StdoutWriter::new();
    if shared.json {
        out.write_line(&serde_json::to_string(&report)?)?;
    } else {
        for line in report.render_lines(&name) {
            out.write_line(&line)?;
        }
    }
    let exit = check_exit(&report);
    // This process ends now: to free a large plan task by task would only take time.
    std::mem::forget(report);
    Ok(exit)
}

/// The rules that a file must follow to be read at all. The others are about plans that could be read.
const RULES_OF_FILES: [&str; 5] =
    ["bad_value", "unknown_field", "cycle", "duplicate_id", "dependency_missing"];

/// A file that cannot run is a mistake in what was asked for, as it is for `run`.
fn check_exit(report: &check::CheckReport) -> CliExit {
    let cannot_run = |violation: &Violation| {
        violation.severity != Severity::Warning && RULES_OF_FILES.contains(&&*violation.rule)
    };
    match report.violations.iter().any(cannot_run) {
        true => CliExit::Usage,
        false if report.valid => CliExit::Success,
        false => CliExit::Failed,
    }
}

fn explain_rule(rule: &str) -> anyhow::Result<CliExit> {
    let Some(words) = grammar::explain_rule(rule) else {
        let near = planwright_text::nearest_name(rule, grammar::RULES.iter().map(|rule| rule.id));
        let problem = CliProblem::usage(format!("there is no rule `{rule}`"));
        return Err(match near {
            Some(near) => problem.with_remedy(format!("did you mean {near}?")),
            None => {
                problem.with_remedy("rules are named as in the findings of check, such as G111")
            }
        }
        .into());
    };
    StdoutWriter::new().write_line(&words)?;
    Ok(CliExit::Success)
}
