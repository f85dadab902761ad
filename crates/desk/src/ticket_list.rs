//! Finding tickets among all sessions, without reading the others.

use std::sync::Arc;

use crate::plan_report::{PlanReport, TicketSummary};
use crate::ticket_desk::{DeskError, TicketDesk};
use planwright_model::event::{DeskEvent, Event};
use planwright_model::{Seq, SessionId, SubmittingAgent};
use planwright_state::SessionState;
use planwright_store::Store;

/// How many sessions are looked at, the last used first.
const RECENT: usize = 500;
/// How many tickets are read and listed.
const MOST_TICKETS: usize = 50;
/// The event by which a session is known to be a ticket.
const OPENED: Seq = Seq(2);

impl TicketDesk {
    /// The agent that opened a session; none if it is not a ticket.
    fn ticket_agent(store: &Store, id: &SessionId) -> Result<Option<SubmittingAgent>, DeskError> {
        let record = Self::history(store, id)?.record_at(OPENED)?;
        Ok(match record.map(|record| record.event) {
            Some(Event::Desk(DeskEvent::Opened { agent })) => Some(agent),
            _ => None,
        })
    }

    /// The tickets that were used last, the newest first.
    pub(crate) fn recent_tickets(
        store: &Store,
    ) -> Result<Vec<(SessionId, Arc<SessionState>)>, DeskError> {
        let mut found = Vec::new();
        for info in store.list_sessions()?.into_iter().take(RECENT) {
            if info.imported.is_some() || info.is_empty() || info.head < OPENED {
                continue;
            }
            if Self::ticket_agent(store, &info.id)?.is_none() {
                continue;
            }
            let state = Self::history(store, &info.id)?.state_at(info.head)?;
            // A fork of a ticket is the person's own.
            if state.desk.is_ticket() {
                found.push((info.id, state));
            }
            if found.len() >= MOST_TICKETS {
                break;
            }
        }
        Ok(found)
    }

    /// The newest open ticket of one conversation of an agent.
    pub fn find_conversation(
        &self,
        name: &str,
        conversation: &str,
    ) -> Result<Option<SessionId>, DeskError> {
        let store = self.store()?;
        let own = |state: &SessionState| {
            state.desk.agent.as_ref().is_some_and(|agent| {
                agent.name == name && agent.conversation == conversation && !conversation.is_empty()
            })
        };
        let tickets = Self::recent_tickets(&store)?;
        let open = tickets.into_iter().find(|(_, state)| own(state) && !state.plan.abandoned);
        Ok(open.map(|(id, _)| id))
    }

    /// The tickets of the agents of one name, the newest first.
    pub fn list_plans(&self, agent: &str) -> Result<Vec<TicketSummary>, DeskError> {
        let store = self.store()?;
        let tickets = Self::recent_tickets(&store)?;
        let own = tickets.iter().filter(|(_, state)| state.desk.agent_name() == agent);
        Ok(own.map(|(id, state)| TicketSummary::from_state(id, state)).collect())
    }

    /// A ticket's plan, its text, comments and progress.
    pub fn get_plan(&self, ticket: &str) -> Result<PlanReport, DeskError> {
        let store = self.store()?;
        let id = Self::parse_ticket(&store, ticket)?;
        let state = Self::ticket_state(&store, &id)?;
        Ok(PlanReport::from_state(&id, &state))
    }

    /// The ticket as it is now, for whoever shows or checks it.
    pub fn read_ticket(&self, id: &SessionId) -> Result<Arc<SessionState>, DeskError> {
        Self::ticket_state(&self.store()?, id)
    }
}
