//! Changing what was said about a saved plan, or undoing what a task changed: nothing of the plan runs.

use std::sync::Arc;

use super::resume_session::ResumeOptions;
use super::{App, session_history};
use crate::console::CliProblem;
use planwright_engine::resume::ResumeMode;
use planwright_model::SessionId;
use planwright_model::event::{ApprovalEvent, CloseReason, Command, Event, WorktreeEvent};
use planwright_state::SessionState;
use planwright_state::replay::{History, RecordSourceError};
use planwright_store::Store;

/// What the records since a command say about it.
enum CommandFate {
    Pending,
    Refused(String),
    Accepted,
}

impl App {
    /// Has a session decide on a command about a fact, lets it plan again where that follows, and closes it. `Err` says
    /// why it refused.
    pub(crate) async fn change_fact(
        &self,
        store: &Store,
        id: &SessionId,
        command: Command,
    ) -> anyhow::Result<Arc<SessionState>> {
        let fate_of = |event: &Event| match event {
            Event::Fact(_) => CommandFate::Accepted,
            other => refused_fate(other),
        };
        let remedy = format!("planwright facts {} lists them", id.short_id());
        self.decide_on(store, id, (command, &fate_of), &remedy).await
    }

    /// Has a session undo what one of its tasks applied, and closes it.
    pub(crate) async fn undo_changes(
        &self,
        store: &Store,
        id: &SessionId,
        command: Command,
    ) -> anyhow::Result<Arc<SessionState>> {
        let fate_of = |event: &Event| match event {
            Event::Worktree(WorktreeEvent::Undone { .. } | WorktreeEvent::UndoFailed { .. }) => {
                CommandFate::Accepted
            }
            other => refused_fate(other),
        };
        let remedy = format!("planwright changes {} lists them", id.short_id());
        self.decide_on(store, id, (command, &fate_of), &remedy).await
    }

    /// Sends a command to a session that nobody works on, waits for what comes of it, and closes the session.
    async fn decide_on(
        &self,
        store: &Store,
        id: &SessionId,
        (command, fate_of): (Command, &dyn Fn(&Event) -> CommandFate),
        remedy: &str,
    ) -> anyhow::Result<Arc<SessionState>> {
        let view = ResumeOptions {
            mode: ResumeMode::View,
            workspace: None,
            interactive: false,
            shown: None,
        };
        let (handle, before) = self.resume_session(store, id, view).await?;
        let mut history = session_history(store, id)?;
        let mut head = handle.head.clone();
        crate::session_commands::send_command(&handle.commands, command).await;
        let fate = loop {
            let seen = *head.borrow_and_update();
            let fate = command_fate(&mut history, &before, seen, fate_of)?;
            let working = history.state_at(seen)?.planning.is_working();
            match fate {
                CommandFate::Accepted if working => {}
                CommandFate::Pending => {}
                fate => break fate,
            }
            if head.changed().await.is_err() {
                break fate;
            }
        };
        let close = Command::Close { why: CloseReason::Quit };
        crate::session_commands::send_command(&handle.commands, close).await;
        handle.wait_until_closed().await?;
        if let CommandFate::Refused(why) = fate {
            return Err(CliProblem::failed(why).with_remedy(remedy).into());
        }
        let mut history = session_history(store, id)?;
        let last = history.head_seq()?;
        Ok(history.state_at(last)?)
    }
}

fn refused_fate(event: &Event) -> CommandFate {
    match event {
        Event::Approval(ApprovalEvent::Refused { why, .. }) => {
            CommandFate::Refused(why.to_string())
        }
        _ => CommandFate::Pending,
    }
}

fn command_fate(
    history: &mut History,
    before: &SessionState,
    head: planwright_model::Seq,
    fate_of: &dyn Fn(&Event) -> CommandFate,
) -> Result<CommandFate, RecordSourceError> {
    let mut seq = before.seq.next();
    while seq <= head {
        match history.record_at(seq)?.map(|record| fate_of(&record.event)) {
            None | Some(CommandFate::Pending) => {}
            Some(fate) => return Ok(fate),
        }
        seq = seq.next();
    }
    Ok(CommandFate::Pending)
}
