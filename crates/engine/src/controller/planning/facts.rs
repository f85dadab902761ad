//! Facts: keeping what the person says, and what follows when they correct or withdraw it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::edits::recheck_draft;
use super::{DecisionBuilder, advance_draft};
use crate::controller::{CommandDecision, DecisionResult};
use crate::said;
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::fact_reading::{self, ReadFact, apply_reading, is_plan_limit};
use planwright_drafting::offline::goal::{Goal, GoalParseContext};
use planwright_model::event::{CommandRefusal, FactEvent, PlanningEvent};
use planwright_model::{Actor, Fact, FactReading, FactSource, PlanEdit, PlanState, TaskId};
use planwright_state::SessionState;

/// Keeps a text that the person typed, with what was understood of it.
fn record_statement(
    draft: &mut DecisionBuilder<'_>,
    source: &FactSource,
    text: &str,
    parts: &[ReadFact],
) {
    let events = said::statement_events(&draft.planning().facts, source, text, parts);
    for event in events {
        draft.record(event);
    }
}

/// Keeps the answers to questions; one that was left to us says nothing.
pub(super) fn record_answers(draft: &mut DecisionBuilder<'_>, answers: &BTreeMap<String, String>) {
    let today = said::parse_context(draft.planning().context.as_deref(), draft.now);
    for (key, answer) in answers.iter().filter(|(_, answer)| !answer.trim().is_empty()) {
        let reading = if draft.planning().is_read_by_model() {
            None
        } else {
            said::read_answer(key, answer, today)
        };
        let part = ReadFact { text: answer.clone(), reading };
        record_statement(draft, &FactSource::Answer(key.clone()), answer.trim(), &[part]);
    }
}

/// Keeps a change request.
pub(super) fn record_request(draft: &mut DecisionBuilder<'_>, text: &str, nodes: &[TaskId]) {
    let today = said::parse_context(draft.planning().context.as_deref(), draft.now).date;
    let parts = if draft.planning().is_read_by_model() {
        Vec::new()
    } else {
        said::read_request(draft.planning(), text, nodes, today)
    };
    record_statement(draft, &FactSource::ChangeRequest, text, &parts);
}

/// Keeps a choice that moves a limit of the plan.
pub(super) fn record_choice(draft: &mut DecisionBuilder<'_>, text: &str, reading: FactReading) {
    let part = ReadFact { text: text.to_owned(), reading: Some(reading) };
    let source = FactSource::Answer(said::CHOSEN.to_owned());
    record_statement(draft, &source, text, &[part]);
}

/// Keeps changes by hand: comments as they were typed, the rest in the words of the history. What they take back of
/// what was said no longer applies.
pub(super) fn record_edits(draft: &mut DecisionBuilder<'_>, edits: &[PlanEdit], what: &str) {
    let taken_back: Vec<u32> = draft
        .planning()
        .facts
        .active()
        .filter(|fact| {
            let reading = fact.reading.as_ref();
            reading.is_some_and(|reading| {
                edits.iter().any(|edit| fact_reading::takes_back(edit, reading))
            })
        })
        .map(|fact| fact.id)
        .collect();
    for id in taken_back {
        draft.record(FactEvent::Withdrawn { id, by: Actor::Person, replaced_by: None });
    }
    let mut parts = Vec::new();
    let mut changes = false;
    for edit in edits {
        match edit {
            PlanEdit::Comment { node, text } => {
                record_statement(draft, &FactSource::Comment(node.clone()), text.trim(), &[]);
            }
            PlanEdit::Lock { .. } | PlanEdit::Unlock { .. } => {}
            edit => {
                changes = true;
                let reading = fact_reading::read_edit(edit);
                parts.extend(
                    reading
                        .map(|reading| ReadFact { text: what.to_owned(), reading: Some(reading) }),
                );
            }
        }
    }
    if changes {
        record_statement(draft, &FactSource::Edit, what, &parts);
    }
}

/// What a change that is undone said no longer applies; what is redone applies again.
pub(super) fn record_undo(draft: &mut DecisionBuilder<'_>, what: &str, again: bool) {
    let said = |fact: &&Fact| {
        let quoted = what.trim_matches('"').trim_end_matches('…');
        let own = matches!(fact.source, FactSource::Edit | FactSource::ChangeRequest);
        own && fact.part_of.is_none()
            && (fact.text == what || (what.starts_with('"') && fact.text.starts_with(quoted)))
    };
    let facts = &draft.planning().facts;
    if !again {
        let last = facts.active().filter(said).last().map(|fact| fact.id);
        if let Some(id) = last {
            draft.record(FactEvent::Withdrawn { id, by: Actor::Person, replaced_by: None });
        }
        return;
    }
    let Some(whole) = facts.all().iter().rev().filter(|fact| !fact.is_active()).find(said) else {
        return;
    };
    let parts: Vec<ReadFact> = facts
        .all()
        .iter()
        .filter(|fact| fact.part_of == Some(whole.id))
        .chain((whole.reading.is_some()).then_some(whole))
        .map(|fact| ReadFact { text: fact.text.clone(), reading: fact.reading.clone() })
        .collect();
    let (source, text) = (whole.source.clone(), whole.text.clone());
    record_statement(draft, &source, &text, &parts);
}

/// Says a fact in other words.
pub(in super::super) fn correct_fact(
    state: &SessionState,
    id: u32,
    text: &str,
    by: Actor,
    now: Timestamp,
) -> DecisionResult {
    let text = text.trim();
    if text.is_empty() {
        return Err(refuse("say it in other words, or withdraw it"));
    }
    let fact = active_fact(state, id)?.clone();
    if fact.text == text {
        return Err(refuse("these are the same words as before"));
    }
    let mut draft = open_draft(state, now)?;
    let today = said::parse_context(draft.planning().context.as_deref(), now);
    let reading = match &fact.source {
        // The goal as a whole is read again, phrase by phrase.
        FactSource::Goal if fact.part_of.is_none() => None,
        FactSource::Answer(key) => said::read_answer(key, text, today),
        _ => fact_reading::read_statement(text, today.date, today.region),
    };
    draft.record(FactEvent::Corrected { id, text: text.to_owned(), reading: reading.clone(), by });
    if fact.source == FactSource::Goal && fact.part_of.is_none() {
        read_goal_again(&mut draft, id, text, by, today);
    }
    let limit = reading.filter(|reading| {
        let same_kind = fact.reading.as_ref().is_some_and(|before| reading.replaces(before));
        same_kind && is_plan_limit(reading)
    });
    Ok(follow_statement(draft, &fact, text, limit.as_ref()))
}

/// Replaces the phrases of a goal that was said in other words.
fn read_goal_again(
    draft: &mut DecisionBuilder<'_>,
    whole: u32,
    text: &str,
    by: Actor,
    today: GoalParseContext,
) {
    let facts = &draft.planning().facts;
    let parts: Vec<u32> =
        facts.active().filter(|fact| fact.part_of == Some(whole)).map(|fact| fact.id).collect();
    for id in parts {
        draft.record(FactEvent::Withdrawn { id, by, replaced_by: None });
    }
    for read in fact_reading::read_goal_facts(&Goal::parse(text, today)) {
        let id = draft.planning().facts.next_id();
        let fact = Fact::new(id, FactSource::Goal, read.text);
        let fact = Fact { part_of: Some(whole), reading: read.reading, ..fact };
        draft.record(FactEvent::Recorded { fact });
    }
}

/// Takes a fact back.
pub(in super::super) fn withdraw_fact(
    state: &SessionState,
    id: u32,
    by: Actor,
    now: Timestamp,
) -> DecisionResult {
    let fact = active_fact(state, id)?.clone();
    if fact.source == FactSource::Goal && fact.part_of.is_none() {
        return Err(refuse("this is the goal itself; correct it, or discard the plan"));
    }
    let mut draft = open_draft(state, now)?;
    draft.record(FactEvent::Withdrawn { id, by, replaced_by: None });
    Ok(follow_statement(draft, &fact, "", None))
}

/// Lets the plan follow what is now said instead of a fact. A limit that only changed its value moves the dates and
/// leaves the tasks as they are; anything else is planned again from the facts, with locked rows kept.
fn follow_statement(
    mut draft: DecisionBuilder<'_>,
    before: &Fact,
    text: &str,
    limit: Option<&FactReading>,
) -> CommandDecision {
    let goal = goal_after(&draft, before, text);
    match &before.source {
        FactSource::Goal => {}
        FactSource::Answer(key) if key == said::CHOSEN => {}
        FactSource::Answer(key) => {
            let answers = BTreeMap::from([(key.clone(), text.to_owned())]);
            draft.record(PlanningEvent::QuestionsAnswered { answers });
        }
        FactSource::ChangeRequest if before.reading.is_some() || has_readings(&draft, before) => {}
        // Words that no rule checks change nothing when they go.
        _ => return recheck_if_broken(draft),
    }
    if draft.planning().outline.is_none() && draft.planning().context.is_none() {
        return draft.into_decision();
    }
    let what = match text {
        "" => format!("without \"{}\"", before.text),
        text => format!("\"{text}\" instead of \"{}\"", before.text),
    };
    let context = draft.planning().context.clone();
    if draft.planning().place.state == PlanState::Complete {
        super::commands::keep_finished_work(&mut draft);
    }
    draft.record(PlanningEvent::Restated { goal: goal.clone(), what });
    match (limit, context) {
        (Some(reading), Some(context)) if draft.planning().schedule.is_some() => {
            let mut context = planwright_model::PlanContext::clone(&context);
            context.goal_text = goal;
            apply_reading(&mut context, reading);
            draft.record(PlanningEvent::ContextSet { context: Arc::new(context) });
            recheck_draft(draft)
        }
        _ => {
            advance_draft(&mut draft, ControllerOutcome::Restated, None);
            draft.into_decision()
        }
    }
}

/// Whether parts of a text that was withdrawn or corrected had readings.
fn has_readings(draft: &DecisionBuilder<'_>, whole: &Fact) -> bool {
    let facts = draft.planning().facts.all();
    facts.iter().any(|fact| fact.part_of == Some(whole.id) && fact.reading.is_some())
}

/// The goal with the words of a fact replaced; the fact that keeps the whole goal follows.
fn goal_after(draft: &DecisionBuilder<'_>, before: &Fact, text: &str) -> String {
    let goal = &draft.planning().goal;
    if before.source != FactSource::Goal {
        return goal.clone();
    }
    let Some(_) = before.part_of else { return text.to_owned() };
    match goal.find(&before.text) {
        Some(start) => {
            let (head, tail) = (&goal[..start], &goal[start + before.text.len()..]);
            tidy_goal(&format!("{head}{text}{tail}"))
        }
        // It was corrected before to words that the goal does not have.
        None if text.is_empty() => goal.clone(),
        None => tidy_goal(&format!("{goal}, {text}")),
    }
}

/// Removes what a phrase leaves behind: double spaces, commas side by side or at an end.
fn tidy_goal(text: &str) -> String {
    let parts: Vec<String> = text
        .split(',')
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(", ")
}

/// Has a plan that broke what was said checked again, since it may not any more.
fn recheck_if_broken(draft: DecisionBuilder<'_>) -> CommandDecision {
    if draft.planning().broken_facts().next().is_some() {
        return recheck_draft(draft);
    }
    draft.into_decision()
}

fn active_fact(state: &SessionState, id: u32) -> Result<&Fact, CommandRefusal> {
    match state.planning.facts.find(id) {
        Some(fact) if fact.is_active() => Ok(fact),
        Some(_) => Err(refuse(format!("fact {id} was withdrawn already"))),
        None => Err(refuse(format!("there is no fact {id}"))),
    }
}

fn open_draft(state: &SessionState, now: Timestamp) -> Result<DecisionBuilder<'_>, CommandRefusal> {
    let talk = &state.planning;
    if talk.is_working() {
        return Err(refuse("the next draft is being made; change facts once it is here"));
    }
    if talk.place.state == PlanState::Aborted {
        return Err(refuse("the plan is discarded; restore it first"));
    }
    Ok(DecisionBuilder::new(state, now))
}

fn refuse(what: impl Into<String>) -> CommandRefusal {
    CommandRefusal::OutOfRange { what: what.into() }
}
