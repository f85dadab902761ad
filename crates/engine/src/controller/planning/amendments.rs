//! What is added to an open request without answering it: ideas, and why an answer could not be read.

use std::sync::Arc;

use super::{DecisionBuilder, is_planning_request};
use crate::controller::{CommandDecision, DecisionResult};
use planwright_model::event::{ApprovalEvent, CommandRefusal, Event, PlanningEvent, RevisedDraft};
use planwright_model::{OfferedIdea, PlanEdit, Request};
use planwright_plan::edit as edits;
use planwright_state::SessionState;

/// The longest title that a task made of an idea gets.
const MAX_TITLE_CHARS: usize = 100;
/// The estimate of a task made of an idea.
const IDEA_MINUTES: u32 = 60;

/// Adds ideas to the open requests of planning. Without ideas the requests are put as they are, so that whoever asked
/// knows that nothing more comes.
pub(crate) fn amend_with_ideas(state: &SessionState, ideas: &[String]) -> Vec<Event> {
    let offered: Vec<OfferedIdea> =
        ideas.iter().map(|text| OfferedIdea { text: text.clone(), taken: false }).collect();
    let open = state.requests.open.values();
    open.filter(|open| is_planning_request(&open.request.kind))
        .map(|open| {
            let request = if offered.is_empty() {
                Request::clone(&open.request)
            } else {
                open.request.with_ideas(offered.clone())
            };
            ApprovalEvent::Amended { request: Arc::new(request) }.into()
        })
        .collect()
}

/// Takes an idea into the plan. A draft gets it as a task at once, a goal that has none yet with its first draft.
pub(super) fn take_idea(
    mut draft: DecisionBuilder<'_>,
    request: &Request,
    number: u8,
) -> DecisionResult {
    let place = usize::from(number).wrapping_sub(1);
    let mut ideas = request.ideas.clone();
    let Some(idea) = ideas.get_mut(place).filter(|idea| !idea.taken) else {
        return Err(CommandRefusal::NotOffered { id: request.id });
    };
    idea.taken = true;
    let text = idea.text.clone();
    draft.record(PlanningEvent::IdeaTaken { idea: text.clone() });
    let amended = request.with_ideas(ideas);
    draft.record(ApprovalEvent::Amended { request: Arc::new(amended) });
    if let Some(edit) =
        draft.planning().outline.as_deref().and_then(|outline| idea_edit(outline, &text))
    {
        let talk = draft.planning();
        let outline = talk.outline.as_deref().ok_or(CommandRefusal::NoPlan)?;
        let edited = edits::apply_edit(outline, talk.roadmap.as_deref(), &edit, &talk.locked)
            .map_err(|error| CommandRefusal::OutOfRange { what: error.to_string() })?;
        let revised = RevisedDraft {
            outline: Arc::new(edited.outline),
            roadmap: edited.roadmap.map(Arc::new),
        };
        draft.record(PlanningEvent::Revised {
            edits: vec![edit],
            what: edited.reason,
            draft: Some(revised),
            all_changes: None,
        });
        super::advance_draft(
            &mut draft,
            planwright_drafting::controller::ControllerOutcome::Edited,
            None,
        );
    }
    Ok(draft.into_decision())
}

/// The edit that makes an idea a task of the first phase.
pub(crate) fn idea_edit(outline: &planwright_model::PlanOutline, idea: &str) -> Option<PlanEdit> {
    let tree = outline.node_tree();
    let phase = tree
        .children(&outline.root_id)
        .find(|node| node.node_type == planwright_model::NodeType::Phase)
        .map_or(&outline.root_id, |phase| &phase.id);
    // The second half of an idea says how it compares with the others.
    let title = idea.split(": ").next().unwrap_or(idea).trim();
    let title: String = title.chars().take(MAX_TITLE_CHARS).collect();
    let known = outline.nodes.iter().any(|node| node.title == title);
    (!known && !title.is_empty()).then(|| PlanEdit::Add {
        parent: phase.clone(),
        title,
        minutes: Some(IDEA_MINUTES),
    })
}

/// Keeps a request open with why its answer could not be read.
pub(super) fn keep_unread(
    mut draft: DecisionBuilder<'_>,
    request: &Request,
    text: &str,
    why: &str,
) -> CommandDecision {
    let mut amended = request.with_unread_answer(text, why);
    let most = draft.planning().limits.unparsed_limit;
    // After a few the request itself is repeated, word for word.
    if let Some(unread) = amended.unread.as_mut().filter(|unread| unread.times > most)
        && let Some(asked) = draft.planning().response_text.lines().last()
    {
        unread.why = format!("{} {asked}", unread.why);
    }
    draft.record(ApprovalEvent::Amended { request: Arc::new(amended) });
    draft.into_decision()
}
