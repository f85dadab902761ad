//! The approval desk with the person's settings: its store, what its tickets begin with, and who is told of them.

use std::sync::Arc;

use super::App;
use crate::console::PROGRAM;
use planwright_desk::{AgentProcesses, StoreOpener, TicketDesk, agent_variable};
use planwright_model::event::Event;
use planwright_model::{PolicyOverride, SessionId};
use planwright_state::SessionState;
use planwright_store::Store;

impl App {
    /// The desk. The store is opened by the first call that needs it, so that an agent is told what is wrong with it.
    pub(crate) fn ticket_desk(&self) -> TicketDesk {
        let app = self.clone();
        let opener: StoreOpener =
            Arc::new(move || app.open_store().map_err(|error| format!("{error:#}")));
        let (opening, telling) = (self.clone(), self.clone());
        TicketDesk::new(opener, self.redactor(), PROGRAM)
            .with_opening_events(move |store| opening.ticket_events(store))
            .with_notices(move |ticket, words| telling.tell_about_ticket(ticket, words))
    }

    /// What a ticket begins with besides its plan, as every session does.
    fn ticket_events(&self, store: &Store) -> Vec<Event> {
        let policy = self.policy_event(store, &PolicyOverride::default()).unwrap_or_else(|error| {
            tracing::warn!(%error, "the saved policy can't be read");
            None
        });
        policy.into_iter().chain(self.changed_limits_event(&SessionState::default())).collect()
    }

    /// Starts the command that the person named for tickets.
    fn tell_about_ticket(&self, ticket: &SessionId, words: &str) {
        let command = &self.settings.desk_notify.value;
        let notice = super::run_notices::TicketNotice { command, ticket, words };
        super::run_notices::start_ticket_command(&notice, &self.key_variables());
    }

    /// The agents that use the desk of this store.
    pub(crate) fn desk_agents(&self) -> Option<AgentProcesses> {
        self.data_dir().map(AgentProcesses::in_data_dir)
    }

    /// How it shows that an agent runs this process, if one does.
    pub(crate) fn agent_above(&self) -> Option<String> {
        if let Some(variable) = agent_variable() {
            return Some(format!("{variable} is set, so an agent runs this command"));
        }
        let below = self.desk_agents().is_some_and(|agents| agents.is_below_agent());
        below.then(|| "the agent that submits plans started this command".to_owned())
    }
}
