//! Facts as events: what a text that was said leads to, and what it takes the place of.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use planwright_drafting::change_requests::{ChangeRequestSource, parse_change_request};
use planwright_drafting::fact_reading::{self, ReadFact};
use planwright_drafting::offline::goal::{CalendarRegion, Goal, GoalParseContext};
use planwright_model::event::FactEvent;
use planwright_model::{Actor, Fact, FactReading, FactSource, PlanContext};
use planwright_state::{FactSlice, PlanningSlice};

/// The key of facts that the person chose from what was offered, rather than typed.
pub(crate) const CHOSEN: &str = "chosen";

/// The events that keep a text: the whole of it as one fact, what was understood of it as facts of their own, and what
/// they replace. A text that is one phrase is one fact.
pub(crate) fn statement_events(
    known: &FactSlice,
    source: &FactSource,
    text: &str,
    parts: &[ReadFact],
) -> Vec<FactEvent> {
    let id = known.next_id();
    let mut whole = Fact::new(id, source.clone(), text);
    let mut facts = Vec::new();
    match parts {
        [only] if only.text.trim() == text.trim() => whole.reading.clone_from(&only.reading),
        parts => {
            facts.extend(parts.iter().zip(id + 1..).map(|(part, number)| Fact {
                part_of: Some(id),
                reading: part.reading.clone(),
                ..Fact::new(number, source.clone(), part.text.clone())
            }));
        }
    }
    facts.insert(0, whole);
    let mut events: Vec<FactEvent> =
        facts.iter().map(|fact| FactEvent::Recorded { fact: fact.clone() }).collect();
    for fact in &facts {
        let replaced = fact.reading.iter().flat_map(|reading| known.replaced_by(reading));
        events.extend(replaced.map(|earlier| FactEvent::Withdrawn {
            id: earlier.id,
            by: Actor::Person,
            replaced_by: Some(fact.id),
        }));
    }
    events
}

/// The events that keep the goal, unless it is kept already. Another goal takes the place of the one before.
pub(crate) fn goal_events(talk: &PlanningSlice, today: GoalParseContext) -> Vec<FactEvent> {
    let goal = talk.goal.trim();
    let mut known = talk.facts.clone();
    let mut events = Vec::new();
    if let Some(before) = known.find_whole(&FactSource::Goal) {
        if before.text.trim() == goal {
            return events;
        }
        let gone = FactEvent::Withdrawn { id: before.id, by: Actor::Person, replaced_by: None };
        known.apply(&gone);
        events.push(gone);
    }
    if goal.is_empty() {
        return events;
    }
    let parts = fact_reading::read_goal_facts(&Goal::parse(goal, today));
    let mut recorded = statement_events(&known, &FactSource::Goal, goal, &parts);
    // The goal is what everything else is about, and stays a fact of its own.
    if let [FactEvent::Recorded { fact }] = recorded.as_mut_slice()
        && let Some(reading) = fact.reading.take()
    {
        let id = fact.id;
        let part = Fact { part_of: Some(id), ..Fact::new(id + 1, FactSource::Goal, goal) };
        let part = Fact { reading: Some(reading), ..part };
        recorded.push(FactEvent::Recorded { fact: part });
    }
    events.extend(recorded);
    events
}

/// What is understood of an answer to a question: the words by themselves, or as the question means them.
pub(crate) fn read_answer(key: &str, answer: &str, today: GoalParseContext) -> Option<FactReading> {
    let said = |text: &str| fact_reading::read_statement(text, today.date, today.region);
    let number = answer.trim().parse::<f64>().is_ok();
    match key {
        "weekly_minutes" if number => said(&format!("{} hours a week", answer.trim())),
        "weekly_minutes" => said(&format!("{answer} a week")).or_else(|| said(answer)),
        "horizon_weeks" if number => said(&format!("in {} weeks", answer.trim())),
        "horizon_weeks" => said(&format!("in {answer}")).or_else(|| said(&format!("by {answer}"))),
        _ => said(answer),
    }
}

/// What is understood of a change request about the plan as it stands.
pub(crate) fn read_request(
    talk: &PlanningSlice,
    text: &str,
    nodes: &[planwright_model::TaskId],
    today: Date,
) -> Vec<ReadFact> {
    let Some(outline) = talk.outline.as_deref() else { return Vec::new() };
    let blocks = talk.schedule.iter().flat_map(|schedule| &schedule.blocks);
    let source = ChangeRequestSource {
        outline,
        roadmap: talk.roadmap.as_deref(),
        planned_end: blocks.map(|block| block.end.local_date()).max(),
        marked: nodes,
        today,
    };
    let parsed = parse_change_request(text, &source);
    fact_reading::read_request_facts(&parsed, &outline.plan_context)
        .into_iter()
        .map(|reading| ReadFact { text: text.to_owned(), reading: Some(reading) })
        .collect()
}

/// The day and the part of the world in which something is said about a plan.
pub(crate) fn parse_context(context: Option<&PlanContext>, now: Timestamp) -> GoalParseContext {
    let name = context.map_or("UTC", |context| context.calendar.tz.as_str());
    let zone = TimeZone::get(name).unwrap_or(TimeZone::UTC);
    let region = match context {
        Some(context) => CalendarRegion::from_calendar(&context.calendar),
        None => CalendarRegion::from_time_zone(name),
    };
    GoalParseContext::new(now.to_zoned(zone).date(), 5).in_region(region)
}

/// Takes the limits that were said since the goal into a context that is made anew.
pub(crate) fn apply_later_limits(context: &mut PlanContext, facts: &FactSlice) {
    let later = |fact: &&Fact| {
        fact.source == FactSource::ChangeRequest
            || fact.source == FactSource::Answer(CHOSEN.to_owned())
    };
    for reading in facts.active().filter(later).filter_map(|fact| fact.reading.as_ref()) {
        fact_reading::apply_reading(context, reading);
    }
}
