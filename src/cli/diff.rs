//! `planwright diff`: two sessions side by side.

use clap::Args;

use super::{CliExit, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use planwright_state::replay::compare::{
    ComparisonFigure, PlanRelation, RunComparison, TaskComparison, TaskRunOutcome, compare_runs,
};
use planwright_text::{self as text, units};

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first session: its id, a unique prefix, or `last`
    a: String,
    /// The second session
    b: String,
    /// List every task, also those that are about the same
    #[arg(long)]
    all: bool,
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
    for line in comparison_lines(&found, args.all) {
        out.write_line(&line)?;
    }
    Ok(CliExit::Success)
}

fn comparison_lines(found: &RunComparison, all: bool) -> Vec<String> {
    let (a, b) = (&found.a, &found.b);
    let mut lines = vec![
        format!("A {}  {}", a.session.short_id(), text::clean_line(&a.title)),
        format!("B {}  {}", b.session.short_id(), text::clean_line(&b.title)),
        String::new(),
        format!("{:<18} {:>12} {:>12} {:>12}", "", "A", "B", "B - A"),
    ];
    lines.extend(found.summary_figures().into_iter().map(|figure| {
        let ComparisonFigure { name, a, b, change } = figure;
        format!("{name:<18} {a:>12} {b:>12} {change:>12}").trim_end().to_owned()
    }));
    lines.push(String::new());
    lines.push(format!("plan: {}", found.plan_line()));
    let apart = found.divergence_lines();
    lines.extend(apart.iter().map(|line| text::clean_line(line).into_owned()));
    lines.push(String::new());
    lines.extend(task_lines(found, all));
    lines
}

/// The tasks in a table; those that are about the same only where they are asked for.
fn task_lines(found: &RunComparison, all: bool) -> Vec<String> {
    let listed: Vec<&TaskComparison> =
        found.tasks.iter().filter(|task| all || !task.is_similar()).collect();
    let widest = listed.iter().map(|task| text::display_width(&text::clean_line(&task.title)));
    let width = widest.max().unwrap_or(0).clamp(12, 40);
    let mut lines: Vec<String> = listed.into_iter().map(|task| task_line(task, width)).collect();
    let hidden = found.tasks.len() - lines.len();
    if hidden > 0 {
        lines.push(format!(
            "{} the same within 15 s, 2k tokens and $0.01; --all lists them",
            units::format_counted(hidden, "task")
        ));
    }
    lines
}

fn task_line(task: &TaskComparison, width: usize) -> String {
    let mark = match task.plan {
        PlanRelation::Same => ' ',
        PlanRelation::Changed => '~',
        PlanRelation::OnlyInA => '-',
        PlanRelation::OnlyInB => '+',
    };
    let outcome = |outcome: Option<&TaskRunOutcome>, reused: bool| {
        outcome.map_or_else(String::new, |outcome| {
            if reused {
                return "reused".to_owned();
            }
            let time = std::time::Duration::from_millis(outcome.time_ms);
            format!("{}, {}", outcome.status, units::format_elapsed(time))
        })
    };
    let (a, b) = (outcome(task.a.as_ref(), false), outcome(task.b.as_ref(), task.reused));
    let title = text::clean_line(&task.title);
    let title = text::truncate_end(&title, width);
    let gap = " ".repeat(width.saturating_sub(text::display_width(&title)));
    let note = if task.reused { String::new() } else { task.short_note() };
    let line = format!("{mark} {title}{gap}  {a:<20} {b:<20} {}", text::clean_line(&note));
    line.trim_end().to_owned()
}
