//! `planwright check`: what is wrong with a plan file, and what it resolves to.

use std::path::PathBuf;

use clap::Args;

use super::{Exit, Out, Problem, Shared};
use planwright_plan::plan_file::{self, Format};
use planwright_plan::plan_schedule::Here;
use planwright_plan::{check, grammar};
use planwright_tools::builtin;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The plan file (TOML, JSON or a Markdown checklist)
    #[arg(value_name = "PLAN-FILE", required_unless_present = "explain")]
    file: Option<PathBuf>,
    /// Say what a rule of the grammar means, such as G111
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
}

pub(super) fn check(shared: &Shared, args: &CheckArgs) -> anyhow::Result<Exit> {
    let Some(file) = &args.file else {
        return explain(args.explain.as_deref().unwrap_or_default());
    };
    let (name, text) =
        plan_file::read_text(file).map_err(|error| super::run::plan_problem(&error))?;
    // The built-in tools alone, so that the answer is the same on every machine.
    let tools = builtin::registry();
    let mut report =
        check::check(&text, Format::of(&name, &text), &name, |tool| tools.get(tool).is_some());
    report.schedule(&Here::of(&jiff::Zoned::now()))?;
    let mut out = Out::new();
    if shared.json {
        out.line(&serde_json::to_string(&report)?)?;
    } else {
        for line in report.lines(&name) {
            out.line(&line)?;
        }
    }
    Ok(if report.valid { Exit::Success } else { Exit::Failed })
}

fn explain(rule: &str) -> anyhow::Result<Exit> {
    let Some(words) = grammar::explain(rule) else {
        let near = planwright_text::nearest(rule, grammar::RULES.iter().map(|rule| rule.id));
        let problem = Problem::usage(format!("there is no rule `{rule}`"));
        return Err(match near {
            Some(near) => problem.remedy(format!("did you mean {near}?")),
            None => problem.remedy("rules are named as in the findings of check, such as G111"),
        }
        .into());
    };
    Out::new().line(&words)?;
    Ok(Exit::Success)
}
