//! `planwright sessions rm` and `prune`: giving sessions up, after asking.

use std::io::{BufRead, IsTerminal};

use jiff::{SignedDuration, Timestamp};

use crate::app::{self, App};
use crate::cli::{Exit, Out, Problem, Shared};
use planwright_store::{Removal, SessionInfo, Store};
use planwright_text::{self as text, units};

pub(super) fn remove(shared: &Shared, names: &[String], vacuum: bool) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let store = app.open_store()?;
    let mut sessions = Vec::new();
    for name in names {
        sessions.push(store.session(&app::find(&store, name)?)?);
    }
    give_up(shared, &store, &sessions, vacuum)
}

pub(super) fn prune(shared: &Shared, older_than: &str, vacuum: bool) -> anyhow::Result<Exit> {
    let Some(age) = age(older_than) else {
        return Err(Problem::usage(format!("`{older_than}` is no age"))
            .remedy("use days, weeks or months, such as 30d, 8w or 6mo")
            .into());
    };
    let app = App::settings_only(shared)?;
    let store = app.open_store()?;
    let before = Timestamp::now().saturating_sub(age).unwrap_or(Timestamp::MIN);
    let mut sessions = store.list_sessions()?;
    sessions.retain(|info| info.updated_at.max(info.opened_at.unwrap_or(Timestamp::MIN)) < before);
    if sessions.is_empty() {
        Out::new().line("no session is that old")?;
        return Ok(Exit::Success);
    }
    give_up(shared, &store, &sessions, vacuum)
}

/// Days, weeks, months of 30 days or years of 365.
fn age(text: &str) -> Option<SignedDuration> {
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

fn give_up(
    shared: &Shared,
    store: &Store,
    sessions: &[SessionInfo],
    vacuum: bool,
) -> anyhow::Result<Exit> {
    let mut out = Out::new();
    for info in sessions {
        out.line(&format!(
            "{}  {:>8} events  {}",
            info.id.short(),
            units::count(info.head.0),
            text::clean_line(&info.summary.title)
        ))?;
    }
    let many = if sessions.len() == 1 { "this session" } else { "these sessions" };
    if !shared.yes && !agreed(&format!("delete {many} for good? [y/N] "))? {
        return Ok(Exit::NeedsPerson);
    }
    for info in sessions {
        match store.remove(&info.id)? {
            Removal::Deleted => out.line(&format!("{} deleted", info.id.short()))?,
            Removal::Hidden { forks } => out.line(&format!(
                "{} is out of the list; {forks} of its forks still read their past from it",
                info.id.short()
            ))?,
        }
    }
    let sizes = store.sizes()?;
    if vacuum {
        store.vacuum()?;
        let after = store.sizes()?;
        out.line(&format!(
            "the store takes {} instead of {}",
            units::bytes(after.database),
            units::bytes(sizes.database)
        ))?;
    } else {
        out.line(&format!(
            "the store takes {}, {} of it free for later; --vacuum gives that back",
            units::bytes(sizes.database),
            units::bytes(sizes.free)
        ))?;
    }
    Ok(Exit::Success)
}

/// Asks on the terminal. Without one nobody can say yes.
fn agreed(question: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Problem::usage("deleting has to be confirmed, and there is no terminal")
            .remedy("add --yes")
            .into());
    }
    Out::new().text(question)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_days_weeks_months_or_years() {
        assert_eq!(age("30d"), Some(SignedDuration::from_hours(720)));
        assert_eq!(age("2 weeks"), Some(SignedDuration::from_hours(336)));
        assert_eq!(age("6mo"), Some(SignedDuration::from_hours(180 * 24)));
        assert_eq!((age("soon"), age(""), age("5")), (None, None, None));
    }
}
