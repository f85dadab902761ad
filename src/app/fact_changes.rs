//! Changing what was said about a saved plan: the plan follows, nothing of it runs.

use std::sync::Arc;

use super::resume_session::ResumeOptions;
use super::{App, session_history};
use crate::console::CliProblem;
use planwright_engine::resume::ResumeMode;
use planwright_model::SessionId;
use planwright_model::event::{ApprovalEvent, CloseReason, Command, Event};
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
            let fate = command_fate(&mut history, &before, seen)?;
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
            return Err(CliProblem::failed(why)
                .with_remedy(format!("planwright facts {} lists them", id.short_id()))
                .into());
        }
        let mut history = session_history(store, id)?;
        let last = history.head_seq()?;
        Ok(history.state_at(last)?)
    }
}

fn command_fate(
    history: &mut History,
    before: &SessionState,
    head: planwright_model::Seq,
) -> Result<CommandFate, RecordSourceError> {
    let mut seq = before.seq.next();
    while seq <= head {
        match history.record_at(seq)?.map(|record| record.event.clone()) {
            Some(Event::Fact(_)) => return Ok(CommandFate::Accepted),
            Some(Event::Approval(ApprovalEvent::Refused { why, .. })) => {
                return Ok(CommandFate::Refused(why.to_string()));
            }
            _ => {}
        }
        seq = seq.next();
    }
    Ok(CommandFate::Pending)
}
