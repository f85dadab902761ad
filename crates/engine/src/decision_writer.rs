//! Deciding on one command of a session that nobody works on, and writing what follows, without starting a driver.
//!
//! For sessions that wait for a person or for another program's agent: a decision there starts nothing. A command that
//! would start something is left to a process that can.

use jiff::Timestamp;

use crate::controller::decide_command;
use crate::driver::journal_row;
use crate::plan_rows::changed_plan_row;
use crate::{EngineError, summarize_session};
use planwright_model::event::{ApprovalEvent, Command, CommandRefusal, Event, Record};
use planwright_model::{Actor, Answer, RequestId};
use planwright_state::replay::checkpoint_interval;
use planwright_state::{Checkpoint, SessionState};
use planwright_store::{InboxAnswer, InboxKey, Journal, JournalBatch, SideWrite};

/// What somebody left in the inbox of a session, as a command. `None` if it can't be read; nobody can ever act on it.
pub fn command_in_letter(letter: &InboxAnswer) -> Option<Command> {
    // A letter that names no request is a command.
    if letter.request == RequestId::UNASSIGNED {
        let parsed = serde_json::from_str(&letter.answer);
        return parsed.inspect_err(|_| tracing::warn!("a command cannot be read")).ok();
    }
    let parsed = serde_json::from_str(&letter.answer);
    // The error may quote the answer.
    let answer: Answer = parsed
        .inspect_err(|_| tracing::warn!(request = %letter.request, "an answer cannot be read"))
        .ok()?;
    Some(Command::Answer { id: letter.request, answer, by: Actor::Person })
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenDecision {
    /// It was carried out; nothing is left to start.
    Done,
    /// It was refused, and the refusal is in the journal.
    Refused(CommandRefusal),
    /// It would start something here. Nothing was written.
    NeedsDriver,
}

/// Decides on a command and writes what follows in one commit, together with the removal of the letter it came in.
/// `state` is the fold of the whole journal, and afterward the fold of what was written too.
pub async fn write_decision(
    journal: &Journal,
    state: &mut SessionState,
    command: &Command,
    letter: Option<InboxKey>,
    now: Timestamp,
) -> Result<WrittenDecision, EngineError> {
    // Nothing runs here, so that the number of jobs only says that some could.
    let decision = decide_command(state, command, 1, now);
    let starts_run = |event: &Event| matches!(event, Event::Run(_));
    if !decision.effects.is_empty() || decision.events.iter().any(starts_run) {
        return Ok(WrittenDecision::NeedsDriver);
    }
    let refusal = decision.events.iter().find_map(|event| match event {
        Event::Approval(ApprovalEvent::Refused { why, .. }) => Some(why.clone()),
        _ => None,
    });
    let before = state.seq.0;
    let mut batch = JournalBatch::default();
    for event in decision.events {
        // A clock that was set back must not turn the journal's time round.
        let at = state.at.map_or(now, |last| now.max(last));
        let record = Record::new(state.seq.next(), at, event);
        state.apply(&record);
        if let Some(plan) = changed_plan_row(&record.event, &state.planning) {
            let session = journal.session().clone();
            batch.side.push(SideWrite::Plan { session, plan: Box::new(plan) });
        }
        batch.rows.push(journal_row(&record)?);
    }
    batch.side.extend(letter.map(SideWrite::RemoveLetter));
    if !batch.rows.is_empty() || !batch.side.is_empty() {
        batch.summary = Some(summarize_session(state));
        let interval = checkpoint_interval(state.tasks.len());
        if before / interval != state.seq.0 / interval {
            batch.checkpoint = Some(Checkpoint::encode_state(state)?);
        }
        journal.append(batch).await?.await?;
    }
    Ok(match refusal {
        Some(why) => WrittenDecision::Refused(why),
        None => WrittenDecision::Done,
    })
}
