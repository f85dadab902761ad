//! `planwright diff`: two sessions side by side.

use clap::Args;

use super::{Exit, Out, Shared};
use crate::app::{self, App};
use crate::replay::compare::{Comparison, Kinship, Outcome, compare};
use crate::text::{self, units};

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The first session: its id, a unique prefix, or `last`
    a: String,
    /// The second session
    b: String,
}

pub(super) fn diff(shared: &Shared, args: &DiffArgs) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(&args.a)) };
    let (a, b) = (app::find(&store, &args.a)?, app::find(&store, &args.b)?);
    let found =
        compare((&a, &mut app::history(&store, &a)?), (&b, &mut app::history(&store, &b)?))?;
    let mut out = Out::new();
    if shared.json {
        out.line(&serde_json::to_string(&found)?)?;
        return Ok(Exit::Success);
    }
    for line in lines(&found) {
        out.line(&line)?;
    }
    Ok(Exit::Success)
}

fn lines(found: &Comparison) -> Vec<String> {
    let (a, b) = (&found.a, &found.b);
    let mut lines = vec![
        format!("A {}  {}", a.session.short(), text::clean_line(&a.title)),
        format!("B {}  {}", b.session.short(), text::clean_line(&b.title)),
        String::new(),
        format!("{:<10} {:>12} {:>12} {:>12}", "", "A", "B", "B - A"),
    ];
    let change = |a: u64, b: u64| b.cast_signed() - a.cast_signed();
    let mut row = |name: &str, a: String, b: String, change: String| {
        lines.push(format!("{name:<10} {a:>12} {b:>12} {change:>12}"));
    };
    row(
        "done",
        format!("{}/{}", a.done, a.total),
        format!("{}/{}", b.done, b.total),
        format!("{:+}", i64::from(b.done) - i64::from(a.done)),
    );
    row(
        "time",
        elapsed(a.time_ms),
        elapsed(b.time_ms),
        units::elapsed_change(change(a.time_ms, b.time_ms) / 1000),
    );
    row(
        "tokens",
        units::tokens(a.tokens),
        units::tokens(b.tokens),
        units::tokens_change(change(a.tokens, b.tokens)),
    );
    row(
        "cost",
        units::money(a.cost_micro),
        units::money(b.cost_micro),
        units::money_change(change(a.cost_micro, b.cost_micro)),
    );
    row(
        "asked you",
        a.asked.to_string(),
        b.asked.to_string(),
        format!("{:+}", i64::from(b.asked) - i64::from(a.asked)),
    );
    lines.push(String::new());
    lines.push(format!(
        "plan: {} added, {} removed, {} changed, {} the same",
        found.added, found.removed, found.changed, found.same
    ));
    match &found.first_divergence {
        Some(first) => {
            let task =
                first.task.as_ref().map(|task| format!(" in {}", text::clean_line(task.as_str())));
            let at = |seq: Option<crate::model::Seq>| {
                seq.map_or_else(|| "-".to_owned(), |seq| seq.to_string())
            };
            lines.push(format!(
                "first divergence{}: event {} of A, event {} of B",
                task.unwrap_or_default(),
                at(first.seq_a),
                at(first.seq_b)
            ));
            lines.push(format!("  A  {}", text::clean_line(&first.a)));
            lines.push(format!("  B  {}", text::clean_line(&first.b)));
        }
        None => lines.push("both did the same".to_owned()),
    }
    lines.push(String::new());
    for task in &found.tasks {
        let mark = match task.plan {
            Kinship::Same => ' ',
            Kinship::Changed => '~',
            Kinship::OnlyInA => '-',
            Kinship::OnlyInB => '+',
        };
        let told = |outcome: &Option<Outcome>| {
            outcome.as_ref().map_or_else(String::new, |outcome| {
                format!("{} {}", outcome.status, elapsed(outcome.time_ms))
            })
        };
        let note = if task.reused { "reused".to_owned() } else { task.changed.join(", ") };
        lines.push(
            format!(
                "{mark} {:<20} {:<18} {:<18} {note}",
                text::clean_line(task.task.as_str()),
                told(&task.a),
                told(&task.b)
            )
            .trim_end()
            .to_owned(),
        );
    }
    lines
}

fn elapsed(ms: u64) -> String {
    units::elapsed(std::time::Duration::from_millis(ms))
}
