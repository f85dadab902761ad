//! `planwright facts`: what was said about a plan, what was understood of it, and changing either.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::json;

use super::guard::require_person;
use super::session::{block_on, open_session};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use planwright_model::event::Command;
use planwright_model::{Actor, SessionId};
use planwright_state::SessionState;
use planwright_text::{clean_line, display_width};
use planwright_tui::plan_text::{FactRow, fact_rows};

#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// The session: its id, a unique prefix, or `last`
    session: String,
    #[command(subcommand)]
    what: Option<FactsCommand>,
}

#[derive(Debug, Subcommand)]
enum FactsCommand {
    /// Withdraw a fact; the plan is redrafted and asks for approval
    Withdraw {
        /// Its number in the list
        fact: u32,
    },
    /// Correct a fact; the plan is redrafted and asks for approval
    Correct {
        /// Its number in the list
        fact: u32,
        /// What you mean, such as `100 guests` or `by 20 June`
        #[arg(required = true, num_args = 1..)]
        words: Vec<String>,
    },
}

pub(super) fn execute_facts(shared: &SharedArgs, args: &FactsArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let command = match &args.what {
        None => return list_facts(shared, &app, &args.session),
        Some(FactsCommand::Withdraw { fact }) => {
            Command::WithdrawFact { id: *fact, by: Actor::Person }
        }
        Some(FactsCommand::Correct { fact, words }) => {
            let text = app.redactor().redact(&words.join(" ")).into_owned();
            Command::CorrectFact { id: *fact, text, by: Actor::Person }
        }
    };
    require_person("change what you said")?;
    let (store, id) = open_session(&app, &args.session)?;
    if store.lease_holder(&id)?.is_some() {
        return Err(CliProblem::failed("another process works on this session")
            .with_remedy("change it on its screen")
            .into());
    }
    block_on(async {
        let state = app.change_fact(&store, &id, command).await?;
        store.close();
        print_facts(shared, &id, &state)?;
        let waits = !state.requests.open.is_empty();
        Ok(if waits { CliExit::NeedsPerson } else { CliExit::Success })
    })
}

fn list_facts(shared: &SharedArgs, app: &App, name: &str) -> anyhow::Result<CliExit> {
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(name)) };
    let id = app::find_session(&store, name)?;
    let mut history = app::session_history(&store, &id)?;
    let head = history.head_seq()?;
    let state = history.state_at(head)?;
    print_facts(shared, &id, &state)?;
    Ok(CliExit::Success)
}

fn print_facts(shared: &SharedArgs, id: &SessionId, state: &SessionState) -> anyhow::Result<()> {
    let mut out = StdoutWriter::new();
    if shared.json {
        let broken: Vec<_> = state.planning.broken_facts().collect();
        let facts = state.planning.facts.all();
        let object = json!({ "session": id, "facts": facts, "broken": broken });
        out.write_line(&object.to_string())?;
        return Ok(());
    }
    let today = Timestamp::now().to_zoned(crate::config::time_zone()).date();
    let rows = fact_rows(state, today);
    if rows.is_empty() {
        out.write_line("Nothing was said that this plan has to respect.")?;
        return Ok(());
    }
    let widest = rows.iter().map(words_width).max().unwrap_or(0).min(48);
    for row in &rows {
        out.write_line(&row_line(row, widest))?;
    }
    for broken in state.planning.broken_facts() {
        out.write_line(&clean_line(&broken.message))?;
    }
    Ok(())
}

fn words_width(row: &FactRow) -> usize {
    display_width(&row.text) + 2 * usize::from(row.is_part)
}

fn row_line(row: &FactRow, widest: usize) -> String {
    let indent = if row.is_part { "  " } else { "" };
    let air = " ".repeat(widest.saturating_sub(words_width(row)));
    format!("{:>3}  {:<14}  {indent}{}{air}  {}", row.id, row.source, row.text, row.note())
}
