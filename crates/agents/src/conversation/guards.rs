//! What holds in every conversation, whatever the model thinks: no search for ever, no call that just failed once more,
//! no fourth try at a skill. Pure functions of the conversation.

use super::calls::NOT_RUN;
use planwright_drafting::executor::rules::{SEARCH_LIKE, SEARCHES_IN_A_ROW, call_identity};
use planwright_drafting::executor::{TaskType, start_work};
use planwright_model::agent_work::AgentWork;
use planwright_state::{AgentConversation, ConversationCall, ConversationEntry};
use serde_json::json;

/// The task type whose number of tool calls holds in every profile.
const BOUNDED_TYPE: &str = "skill_build";

/// Why a call is not made, if it is not.
pub(super) fn refusal_reason(
    kind: &TaskType,
    talk: &AgentConversation,
    call: &ConversationCall,
) -> Option<String> {
    repeated_failure(talk, call)
        .or_else(|| endless_search(kind, talk, call))
        .or_else(|| exhausted_type(kind, talk, call))
}

fn changes_something(talk: &AgentConversation, tool: &str) -> bool {
    talk.opening.tools.iter().any(|offered| offered.name == tool && !offered.read_only)
}

/// A call that failed is not made again with the same arguments until something was changed.
fn repeated_failure(talk: &AgentConversation, call: &ConversationCall) -> Option<String> {
    let same = call_identity(&call.tool, &call.arguments);
    let ran = |(_, ok, text): &(&ConversationCall, bool, &str)| *ok || !was_cut_off(text);
    for (earlier, ok, _) in talk.finished_calls().rev().filter(ran) {
        if call_identity(&earlier.tool, &earlier.arguments) == same {
            return (!ok).then(|| {
                format!(
                    "the same call failed before (call_{}) and nothing has changed since; change its arguments or do something else first",
                    earlier.number
                )
            });
        }
        if ok && changes_something(talk, &earlier.tool) {
            return None;
        }
    }
    None
}

/// Whether a call did not run, or was stopped by the person: that says nothing about the call itself.
fn was_cut_off(result: &str) -> bool {
    result.starts_with(NOT_RUN) || result.contains("failed (stopped)")
}

/// How many of the last answers led to no call that was run, and why the last one did not.
pub(super) fn idle_turns(talk: &AgentConversation) -> (u32, String) {
    let (mut count, mut last, mut idle) = (0, None, None);
    for entry in talk.entries.iter().rev() {
        match entry {
            ConversationEntry::Result { ok, text, .. } => {
                let unrun = !ok && text.starts_with(NOT_RUN);
                if unrun && last.is_none() {
                    last = Some(text.clone());
                }
                idle = Some(unrun && idle.unwrap_or(true));
            }
            ConversationEntry::Turn { .. } if idle == Some(true) => {
                count += 1;
                idle = None;
            }
            _ => break,
        }
    }
    (count, last.unwrap_or_default())
}

/// While a product is due, a third search in a row is not made.
fn endless_search(
    kind: &TaskType,
    talk: &AgentConversation,
    call: &ConversationCall,
) -> Option<String> {
    let searches = |tool: &str| SEARCH_LIKE.contains(&tool);
    let step = due_product(kind, talk).filter(|_| searches(&call.tool))?;
    let calls = talk.finished_calls().rev().map(|(earlier, ..)| earlier.tool.as_str());
    let before = calls.take_while(|tool| searches(tool)).count();
    (before >= SEARCHES_IN_A_ROW as usize).then(|| {
        format!(
            "{before} searches in a row are enough; use what was found and do the step {step} now"
        )
    })
}

/// The first producing step that nothing was produced for yet.
fn due_product<'k>(kind: &'k TaskType, talk: &AgentConversation) -> Option<&'k str> {
    let done = |tools: &[String]| {
        talk.finished_calls().any(|(call, ok, _)| ok && tools.contains(&call.tool))
    };
    kind.steps
        .iter()
        .find(|step| step.produces && (step.local.is_some() || !done(&step.tools)))
        .map(|step| step.name.as_str())
}

/// A skill is built in three calls of its steps or not at all, and is researched once.
fn exhausted_type(
    kind: &TaskType,
    talk: &AgentConversation,
    call: &ConversationCall,
) -> Option<String> {
    let step_of =
        |tool: &str| kind.steps.iter().find(|step| step.tools.iter().any(|own| own == tool));
    let step = step_of(&call.tool).filter(|_| kind.name == BOUNDED_TYPE)?;
    let made: Vec<&str> = talk
        .finished_calls()
        .filter_map(|(earlier, ..)| Some(step_of(&earlier.tool)?.name.as_str()))
        .collect();
    if made.len() >= kind.max_steps as usize {
        return Some(format!(
            "a task of this kind has {} calls and they are used; call task.done with what there is",
            kind.max_steps
        ));
    }
    let again = step.most.is_some_and(|most| {
        made.iter().filter(|name| **name == step.name).count() >= most as usize
    });
    let next = step.on_repeat.as_deref().filter(|_| again)?;
    Some(format!("the step {} is done; do the step {next} now", step.name))
}

/// Which steps of the type are done by what was called, and how much was done in all.
pub(super) fn visible_work(
    kind: &TaskType,
    talk: &AgentConversation,
    goals: Vec<String>,
    has_context: bool,
) -> AgentWork {
    let mut work = start_work(kind, goals, has_context);
    for (call, ok, _) in talk.finished_calls().filter(|(_, ok, _)| *ok) {
        let fits = |tools: &[String]| tools.contains(&call.tool);
        let Some(at) = kind.steps.iter().position(|step| ok && fits(&step.tools)) else { continue };
        // Thinking that leads up to a call was done when the call was.
        let thought = kind.steps[..at].iter().filter(|step| step.local.is_some());
        for step in thought.chain([&kind.steps[at]]) {
            if work.state.pending_steps.contains(&step.name) {
                let result = json!(format!("call_{}", call.number));
                work.state.complete_step(&step.name, result);
            }
        }
        work.calls += 1;
    }
    work.iteration = talk.turns();
    work
}
