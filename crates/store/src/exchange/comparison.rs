//! Two runs side by side as a report in Markdown.

use std::fmt::Write;

use planwright_plan::export::markdown_escape as escape;
use planwright_state::replay::compare::{Comparison, Kinship, Outcome, Side};
use planwright_text::{self as text, units};

/// The report.
pub fn markdown(found: &Comparison) -> String {
    let mut out = String::from("# Two runs\n\n");
    for (letter, side) in [("A", &found.a), ("B", &found.b)] {
        let _ = writeln!(out, "- {letter}: {}", named(side));
    }
    out.push_str("\n| | A | B | B - A |\n| --- | ---: | ---: | ---: |\n");
    for figure in found.figures() {
        let _ =
            writeln!(out, "| {} | {} | {} | {} |", figure.name, figure.a, figure.b, figure.change);
    }
    let _ = writeln!(out, "\nPlan: {}\n", line(&found.plan_line()));
    for text in found.divergence_lines() {
        let _ = writeln!(out, "- {}", line(&text));
    }
    out.push_str("\n| task | A | B | time | tokens | cost | note |\n");
    out.push_str("| --- | --- | --- | ---: | ---: | ---: | --- |\n");
    for task in &found.tasks {
        let mark = match task.plan {
            Kinship::Same => "",
            Kinship::Changed => "~ ",
            Kinship::OnlyInA => "- ",
            Kinship::OnlyInB => "+ ",
        };
        let _ = writeln!(
            out,
            "| {mark}{} | {} | {} | {} | {} | {} | {} |",
            line(task.task.as_str()),
            ended(task.a.as_ref()),
            ended(task.b.as_ref()),
            units::elapsed_change(task.time_change() / 1000),
            tokens(task.tokens_change()),
            units::money_change(task.cost_change()),
            line(&task.note()),
        );
    }
    out
}

fn named(side: &Side) -> String {
    let fork = side
        .fork_of
        .as_ref()
        .map(|(parent, at)| format!(", fork of {} at event {at}", escape(parent.short())));
    let id = escape(side.session.short());
    format!("{id} {}{}", line(&side.title), fork.unwrap_or_default())
}

fn ended(outcome: Option<&Outcome>) -> String {
    outcome.map_or_else(String::new, |outcome| {
        let time = units::elapsed(std::time::Duration::from_millis(outcome.time_ms));
        format!("{}, {time}", line(&outcome.status))
    })
}

fn tokens(change: i64) -> String {
    if change == 0 { "0".to_owned() } else { units::tokens_change(change) }
}

fn line(text: &str) -> String {
    escape(&text::clean_line(text))
}
