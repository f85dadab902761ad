//! `planwright diff`: two sessions side by side.

use clap::Args;

use super::{CliExit, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use planwright_state::replay::compare::{
    ComparisonFigure, PlanRelation, RunComparison, TaskRunOutcome, compare_runs,
};
use planwright_text::{self as text, units};

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first session: its id, a unique prefix, or `last`
    a: String,
    /// The second session
    b: String,
}

pub(super) fn execute_diff(shared: &SharedArgs, args: &DiffArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(&args.a)) };
    let (a, b) = (app::find_session(&store, &args.a)?, app::find_session(&store, &args.b)?);
    let found = compare_runs(
        (&a, &mut app::session_history(&store, &a)?),
        (&b, &mut app::session_history(&store, &b)?),
    )?;
    let mut out = StdoutWriter::new();
    if shared.json {
        out.write_line(&serde_json::to_string(&found)?)?;
        return Ok(CliExit::Success);
    }
    for line in comparison_lines(&found) {
        out.write_line(&line)?;
    }
    Ok(CliExit::Success)
}

fn comparison_lines(found: &RunComparison) -> Vec<String> {
    let (a, b) = (&found.a, &found.b);
    let mut lines = vec![
        format!("A {}  {}", a.session.short_id(), text::clean_line(&a.title)),
        format!("B {}  {}", b.session.short_id(), text::clean_line(&b.title)),
        String::new(),
        format!("{:<13} {:>12} {:>12} {:>12}", "", "A", "B", "B - A"),
    ];
    lines.extend(found.summary_figures().into_iter().map(|figure| {
        let ComparisonFigure { name, a, b, change } = figure;
        format!("{name:<13} {a:>12} {b:>12} {change:>12}").trim_end().to_owned()
    }));
    lines.push(String::new());
    lines.push(format!("plan: {}", found.plan_line()));
    let apart = found.divergence_lines();
    lines.extend(apart.iter().map(|line| text::clean_line(line).into_owned()));
    lines.push(String::new());
    for task in &found.tasks {
        let mark = match task.plan {
            PlanRelation::Same => ' ',
            PlanRelation::Changed => '~',
            PlanRelation::OnlyInA => '-',
            PlanRelation::OnlyInB => '+',
        };
        let told = |outcome: &Option<TaskRunOutcome>| {
            outcome.as_ref().map_or_else(String::new, |outcome| {
                let time = std::time::Duration::from_millis(outcome.time_ms);
                format!("{} {}", outcome.status, units::format_elapsed(time))
            })
        };
        lines.push(
            format!(
                "{mark} {:<20} {:<18} {:<18} {}",
                text::clean_line(task.task.as_str()),
                told(&task.a),
                told(&task.b),
                text::clean_line(&task.short_note())
            )
            .trim_end()
            .to_owned(),
        );
    }
    lines
}
