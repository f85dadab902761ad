//! The planning agent: what is done in each working state of the controller.
//!
//! A state's work takes the conversation as it stands and comes to events and one outcome; the controller's table says
//! what follows. Without a model everything here is deterministic. With one, judgement is the model's: it fills in the
//! arguments of the same tools, and the same checks decide whether they count.

mod answers;
mod context;
mod ideas;
mod keep;
mod model;
mod outline;
mod prompts;
mod relax;
mod roadmap;
mod schedule;
mod tools;
mod trace;
mod validate;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

pub(crate) use context::questions_allowed;
pub use model::ModelDesk;
pub use prompts::{PROMPTS, Prompts};
pub use relax::{Relaxed, applied as apply_relaxation, touches_stated};

pub use tools::{PLAN_TOOLS, PlanTool, ToolSetError, check_tools, tools_of};

use planwright_drafting::controller::Outcome;
use planwright_drafting::offline::{Library, Proposals};
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{FixedEvent, PlanState, Stage};
use planwright_plan::confidence::ConfidenceSettings;
use planwright_schedule::OtherBlock;
use planwright_state::PlanningSlice;

/// What the person allows the planner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannerSettings {
    pub allow_new_subtype_proposals: bool,
    /// Off lets a proposed subtype be used at once, flagged on the next card.
    pub require_rfc_for_new_subtype: bool,
    pub confidence: ConfidenceSettings,
}

impl Default for PlannerSettings {
    fn default() -> Self {
        Self {
            allow_new_subtype_proposals: true,
            require_rfc_for_new_subtype: true,
            confidence: ConfidenceSettings::default(),
        }
    }
}

/// What the planner works with.
#[derive(Clone, Debug)]
pub struct Planner {
    pub library: Arc<Library>,
    /// IANA name of the person's zone.
    pub time_zone: String,
    /// What is already in the person's calendar.
    pub events: Arc<[FixedEvent]>,
    /// Blocks of the person's other plans.
    pub others: Arc<[OtherBlock]>,
    pub settings: PlannerSettings,
    /// The session's name in traces.
    pub session: String,
    /// None plans offline.
    pub model: Option<Arc<ModelDesk>>,
    /// Subtypes that the person approved before, beside the built-in ones.
    pub own_subtypes: Arc<[String]>,
}

/// What the work in a state came to.
#[derive(Clone, Debug)]
pub struct Work {
    pub events: Vec<Event>,
    pub outcome: Outcome,
}

impl Work {
    fn new(outcome: Outcome) -> Self {
        Self { events: Vec::new(), outcome }
    }

    fn say(mut self, event: PlanningEvent) -> Self {
        self.events.push(event.into());
        self
    }
}

impl Planner {
    /// A planner with the built-in templates and nothing around it.
    pub fn offline(time_zone: impl Into<String>) -> Self {
        Self {
            library: Arc::new(Library::built_in()),
            time_zone: time_zone.into(),
            events: Arc::from([]),
            others: Arc::from([]),
            settings: PlannerSettings::default(),
            session: String::new(),
            model: None,
            own_subtypes: Arc::from([]),
        }
    }

    /// Does the work of the present state without a model. Nothing but the arguments decides what comes out.
    pub fn work(&self, talk: &PlanningSlice, now: Timestamp) -> Work {
        match talk.place.state {
            PlanState::CollectContext => self.collect_context(talk, now),
            PlanState::DraftOutline => self.draft_outline(talk, now),
            PlanState::DraftRoadmap => self.draft_roadmap(talk, now),
            PlanState::DraftSchedule => self.draft_schedule(talk, now),
            PlanState::ValidateOutline => self.validate(Stage::Outline, talk, now),
            PlanState::ValidateRoadmap => self.validate(Stage::Roadmap, talk, now),
            PlanState::ValidateSchedule => self.validate(Stage::Schedule, talk, now),
            // Nothing is to be done in the others.
            _ => Work::new(Outcome::FatalError),
        }
    }

    /// The model that is asked in the present state, if one is.
    pub fn desk(&self, talk: &PlanningSlice) -> Option<&Arc<ModelDesk>> {
        let drafts = matches!(talk.place.state, PlanState::DraftOutline | PlanState::DraftRoadmap);
        self.model.as_ref().filter(|_| drafts && !talk.offline)
    }

    pub(crate) fn today(&self, now: Timestamp) -> Date {
        let zone = TimeZone::get(&self.time_zone).unwrap_or(TimeZone::UTC);
        now.to_zoned(zone).date()
    }

    fn proposals(&self) -> Proposals {
        if self.settings.allow_new_subtype_proposals { Proposals::Allowed } else { Proposals::Off }
    }
}

/// A subtype that the person named in words: the words as one plain name, if they make one.
pub(crate) fn user_subtype(text: &str) -> Option<String> {
    let name: String = text
        .trim()
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let name = name.trim_matches('_').to_owned();
    planwright_model::pattern::is_subtype_name(&name).then_some(name)
}

#[cfg(test)]
mod tests;
