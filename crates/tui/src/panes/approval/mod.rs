//! The approval panel: any request in one shape, what is asked, why, the evidence, then the answers as keys.
//!
//! Nothing here answers: a key in the panel becomes a command in the session screen, and only once the request was on
//! the screen for a moment and its last line was seen.

mod agent_message;
mod answers;
mod choice_card;
mod closed;
mod content;
mod draw;
mod failed;
mod parts;
mod plan_card;
mod run_cards;

pub(crate) use answers::{AnswerRow, answer_rows, sub_key, takes_text};
pub(crate) use choice_card::{
    CardAnswer, card_answers, choice_card_rows, chosen_lever, is_choice_card, usual_answer,
};
pub(crate) use closed::{planning_wait, request_subject};
pub(crate) use content::{CardCache, CardSource, assumed_text, request_judgment};
pub(crate) use draw::ApprovalPane;
pub(crate) use failed::{
    card_count, failed_lines, failed_rows, failed_tasks, fitting_failed_lines,
    selected_failed_task as turned_to_failed, shown_failed_task, why_cannot_revise,
};
pub(crate) use plan_card::{is_plan_card, plan_card_rows, unseen_commands};
pub(crate) use run_cards::{step_cap_amount, with_chosen_amount};

use crate::ui_state::UiState;
use planwright_model::Request;
use planwright_state::SessionState;

/// The request in the panel: the one the person turned to, else the oldest; none while they look at a failed task.
pub(crate) fn current_request<'s>(state: &'s SessionState, ui: &UiState) -> Option<&'s Request> {
    if turned_to_failed(state, ui).is_some() {
        return None;
    }
    let open = &state.requests.open;
    let chosen = ui.card.request.and_then(|id| open.get(&id));
    chosen.or_else(|| state.requests.oldest_open()).map(|open| &*open.request)
}
