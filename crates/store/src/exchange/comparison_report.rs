//! A comparison of two runs as a Markdown report.

use std::fmt::Write;

use planwright_plan::export::markdown_escape as escape_markdown;
use planwright_state::replay::compare::{
    ComparisonSide, PlanRelation, RunComparison, TaskRunOutcome,
};
use planwright_text::{self as text, units};

/// Renders the report.
pub fn render_comparison(found: &RunComparison) -> String {
    let mut out = String::from("# Two runs\n\n");
    for (label, side) in [("A", &found.a), ("B", &found.b)] {
        let _ = writeln!(out, "- {label}: {}", describe_side(side));
    }
    out.push_str("\n| | A | B | B - A |\n| --- | ---: | ---: | ---: |\n");
    for figure in found.summary_figures() {
        let _ =
            writeln!(out, "| {} | {} | {} | {} |", figure.name, figure.a, figure.b, figure.change);
    }
    let _ = writeln!(out, "\nPlan: {}\n", escape_line(&found.plan_line()));
    for text in found.divergence_lines() {
        let _ = writeln!(out, "- {}", escape_line(&text));
    }
    out.push_str("\n| task | A | B | time | tokens | cost | note |\n");
    out.push_str("| --- | --- | --- | ---: | ---: | ---: | --- |\n");
    for task in &found.tasks {
        let mark = match task.plan {
            PlanRelation::Same => "",
            PlanRelation::Changed => "~ ",
            PlanRelation::OnlyInA => "- ",
            PlanRelation::OnlyInB => "+ ",
        };
        let _ = writeln!(
            out,
            "| {mark}{} | {} | {} | {} | {} | {} | {} |",
            escape_line(&task.title),
            describe_outcome(task.a.as_ref()),
            describe_outcome(task.b.as_ref()),
            units::format_elapsed_change(task.time_change()),
            format_tokens_change(task.tokens_change()),
            units::format_money_change(task.cost_change()),
            escape_line(&task.short_note()),
        );
    }
    out
}

fn describe_side(side: &ComparisonSide) -> String {
    let fork = side.fork_of.as_ref().map(|(parent, at)| {
        format!(", fork of {} at event {at}", escape_markdown(parent.short_id()))
    });
    let id = escape_markdown(side.session.short_id());
    format!("{id} {}{}", escape_line(&side.title), fork.unwrap_or_default())
}

fn describe_outcome(outcome: Option<&TaskRunOutcome>) -> String {
    outcome.map_or_else(String::new, |outcome| {
        let time = units::format_elapsed(std::time::Duration::from_millis(outcome.time_ms));
        format!("{}, {time}", escape_line(&outcome.status))
    })
}

fn format_tokens_change(change: i64) -> String {
    if change == 0 { "0".to_owned() } else { units::format_tokens_change(change) }
}

fn escape_line(text: &str) -> String {
    escape_markdown(&text::clean_line(text))
}
