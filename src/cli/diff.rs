//! `planwright diff`: two sessions side by side.

use clap::Args;

use super::{Exit, Out, Shared};
use crate::app::{self, App};
use planwright_state::replay::compare::{Comparison, Figure, Kinship, Outcome, compare};
use planwright_text::{self as text, units};

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
        format!("{:<13} {:>12} {:>12} {:>12}", "", "A", "B", "B - A"),
    ];
    lines.extend(found.figures().into_iter().map(|figure| {
        let Figure { name, a, b, change } = figure;
        format!("{name:<13} {a:>12} {b:>12} {change:>12}").trim_end().to_owned()
    }));
    lines.push(String::new());
    lines.push(format!("plan: {}", found.plan_line()));
    let apart = found.divergence_lines();
    lines.extend(apart.iter().map(|line| text::clean_line(line).into_owned()));
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
                let time = std::time::Duration::from_millis(outcome.time_ms);
                format!("{} {}", outcome.status, units::elapsed(time))
            })
        };
        lines.push(
            format!(
                "{mark} {:<20} {:<18} {:<18} {}",
                text::clean_line(task.task.as_str()),
                told(&task.a),
                told(&task.b),
                text::clean_line(&task.note())
            )
            .trim_end()
            .to_owned(),
        );
    }
    lines
}
