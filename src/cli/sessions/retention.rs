//! `planwright sessions rm` and `prune`: giving sessions up, after asking.

use std::io::{BufRead, IsTerminal};

use jiff::{SignedDuration, Timestamp};

use crate::app::{self, App};
use crate::cli::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use planwright_store::{SessionInfo, SessionRemoval, Store};
use planwright_text::{self as text, units};

pub(super) fn remove_sessions(
    shared: &SharedArgs,
    names: &[String],
    vacuum: bool,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let store = app.open_store()?;
    let mut sessions = Vec::new();
    for name in names {
        sessions.push(store.session_info(&app::find_session(&store, name)?)?);
    }
    delete_sessions(shared, (&app, &store), &sessions, vacuum)
}

pub(super) fn prune_sessions(
    shared: &SharedArgs,
    older_than: &str,
    vacuum: bool,
) -> anyhow::Result<CliExit> {
    let Some(age) = parse_age(older_than) else {
        return Err(CliProblem::usage(format!("`{older_than}` is not a valid age"))
            .with_remedy("use days, weeks or months, such as 30d, 8w or 6mo")
            .into());
    };
    let app = App::settings_only(shared)?;
    let store = app.open_store()?;
    let before = Timestamp::now().saturating_sub(age).unwrap_or(Timestamp::MIN);
    let mut sessions = store.list_sessions()?;
    sessions.retain(|info| info.updated_at.max(info.opened_at.unwrap_or(Timestamp::MIN)) < before);
    if sessions.is_empty() {
        StdoutWriter::new().write_line("no session is that old")?;
        return Ok(CliExit::Success);
    }
    delete_sessions(shared, (&app, &store), &sessions, vacuum)
}

/// Days, weeks, months of 30 days or years of 365.
fn parse_age(text: &str) -> Option<SignedDuration> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: i64 = text.get(..digits)?.parse().ok()?;
    let days = match text.get(digits..)?.trim() {
        "d" | "day" | "days" => 1,
        "w" | "week" | "weeks" => 7,
        "mo" | "month" | "months" => 30,
        "y" | "year" | "years" => 365,
        _ => return None,
    };
    Some(SignedDuration::from_hours(number.checked_mul(days)?.checked_mul(24)?))
}

/// Deletes what agents of a session left in their copies of the workspace.
fn remove_worktrees(app: &App, id: &planwright_model::SessionId) {
    let directory = app.worktree_directory(id);
    if let Some(Err(error)) = directory.map(|directory| directory.remove_all()) {
        tracing::warn!(%error, "copies of the workspace cannot be deleted");
    }
}

fn delete_sessions(
    shared: &SharedArgs,
    (app, store): (&App, &Store),
    sessions: &[SessionInfo],
    vacuum: bool,
) -> anyhow::Result<CliExit> {
    let mut out = StdoutWriter::new();
    for info in sessions {
        out.write_line(&format!(
            "{}  {:>8} events  {}",
            info.id.short_id(),
            units::format_count(info.head.0),
            text::clean_line(&info.summary.title)
        ))?;
    }
    let many = if sessions.len() == 1 { "this session" } else { "these sessions" };
    if !shared.yes && !confirm_deletion(&format!("delete {many} for good? [y/N] "))? {
        return Ok(CliExit::NeedsPerson);
    }
    for info in sessions {
        match store.remove_session(&info.id)? {
            SessionRemoval::Deleted => {
                app.remove_results(&info.id)?;
                remove_worktrees(app, &info.id);
                out.write_line(&format!("{} deleted", info.id.short_id()))?;
            }
            SessionRemoval::Hidden { forks } => out.write_line(&format!(
                "{} is out of the list; {forks} of its forks still read their past from it",
                info.id.short_id()
            ))?,
        }
    }
    let sizes = store.storage_sizes()?;
    if vacuum {
        store.vacuum()?;
        let after = store.storage_sizes()?;
        out.write_line(&format!(
            "the store takes {} instead of {}",
            units::format_bytes(after.database),
            units::format_bytes(sizes.database)
        ))?;
    } else {
        out.write_line(&format!(
            "the store takes {}, {} of it free for later; --vacuum gives that back",
            units::format_bytes(sizes.database),
            units::format_bytes(sizes.free)
        ))?;
    }
    Ok(CliExit::Success)
}

/// Asks on the terminal. Without one nobody can say yes.
fn confirm_deletion(question: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(CliProblem::usage("deleting has to be confirmed, and there is no terminal")
            .with_remedy("add --yes")
            .into());
    }
    StdoutWriter::new().write_text(question)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_days_weeks_months_or_years() {
        assert_eq!(parse_age("30d"), Some(SignedDuration::from_hours(720)));
        assert_eq!(parse_age("2 weeks"), Some(SignedDuration::from_hours(336)));
        assert_eq!(parse_age("6mo"), Some(SignedDuration::from_hours(180 * 24)));
        assert_eq!((parse_age("soon"), parse_age(""), parse_age("5")), (None, None, None));
    }
}
