//! The planning agent: what is done in each working state of the controller.
//!
//! A state's work takes the conversation as it stands and comes to events and one outcome; the controller's table says
//! what follows. Without a model everything here is deterministic. With one, judgement is the model's: it fills in the
//! arguments of the same tools, and the same checks decide whether they count.

mod answers;
mod calendar_source;
mod context;
mod conversation;
mod ideas;
mod kind;
mod model;
mod outline;
mod preservation;
mod prompts;
mod relax;
mod requested_changes;
mod roadmap;
mod schedule;
mod tools;
mod trace;
mod validate;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

pub(crate) use answers::check_answer;
pub use calendar_source::{CalendarSource, KnownEvents};
pub(crate) use context::questions_allowed;
pub use conversation::{LookOnlyHost, PlanningWorkspace};
pub use model::ModelClient;
pub(crate) use outline::empty_steps;
pub use prompts::{PROMPTS, PlanningPrompts};
pub use relax::{RelaxedPlan, apply_relaxation, touches_stated_limits};

pub use tools::{PLAN_TOOLS, PlanTool, ToolSetError, check_tools, tools_for_state};

use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::offline::goal::{CalendarRegion, GoalParseContext};
use planwright_drafting::offline::{SubtypeProposals, TemplateLibrary};
use planwright_drafting::person_profile::PersonProfile;
use planwright_model::event::Event;
use planwright_model::{AgentProfile, PlanState, Stage};
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
    pub library: Arc<TemplateLibrary>,
    /// IANA name of the person's zone.
    pub time_zone: String,
    /// The person's own hours and days off.
    pub profile: PersonProfile,
    /// What is already in the person's calendar.
    pub calendar: Arc<dyn CalendarSource>,
    /// Blocks of the person's other plans.
    pub others: Arc<[OtherBlock]>,
    pub settings: PlannerSettings,
    /// The session's name in traces.
    pub session: String,
    /// None plans offline.
    pub model: Option<Arc<ModelClient>>,
    /// Subtypes that the person approved before, beside the built-in ones.
    pub own_subtypes: Arc<[String]>,
}

/// What the work in a state came to.
#[derive(Clone, Debug)]
pub struct StageResult {
    pub events: Vec<Event>,
    pub outcome: ControllerOutcome,
}

impl StageResult {
    fn new(outcome: ControllerOutcome) -> Self {
        Self { events: Vec::new(), outcome }
    }

    fn with_event(mut self, event: impl Into<Event>) -> Self {
        self.events.push(event.into());
        self
    }
}

impl Planner {
    /// A planner with the built-in templates and nothing around it.
    pub fn offline(time_zone: impl Into<String>) -> Self {
        Self {
            library: Arc::new(TemplateLibrary::built_in()),
            time_zone: time_zone.into(),
            profile: PersonProfile::default(),
            calendar: Arc::new(KnownEvents::default()),
            others: Arc::from([]),
            settings: PlannerSettings::default(),
            session: String::new(),
            model: None,
            own_subtypes: Arc::from([]),
        }
    }

    /// Blocks of other plans that keep their time from this one.
    pub(crate) fn blocks_in_the_way(&self, talk: &PlanningSlice) -> Vec<OtherBlock> {
        let keeps = |other: &&OtherBlock| !talk.freed_blocks.contains(&other.block.id);
        self.others.iter().filter(keeps).cloned().collect()
    }

    /// The same planner beside the person's other plans as they are now.
    pub(crate) fn beside(&self, others: Vec<OtherBlock>) -> Self {
        Self { others: others.into(), ..self.clone() }
    }

    /// Does the work of the present state without a model. Nothing but the arguments decides what comes out.
    pub fn run_stage(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        match talk.place.state {
            PlanState::CollectContext => self.collect_context(talk, now),
            PlanState::DraftOutline => self.draft_outline(talk, now),
            PlanState::DraftRoadmap => self.draft_roadmap(talk, now),
            PlanState::DraftSchedule => self.draft_schedule(talk, now),
            PlanState::ValidateOutline => self.validate_stage(Stage::Outline, talk, now),
            PlanState::ValidateRoadmap => self.validate_stage(Stage::Roadmap, talk, now),
            PlanState::ValidateSchedule => self.validate_stage(Stage::Schedule, talk, now),
            // Nothing is to be done in the others.
            _ => StageResult::new(ControllerOutcome::FatalError),
        }
    }

    /// The model that is asked in the present state, if one is.
    pub fn active_model(&self, talk: &PlanningSlice) -> Option<&Arc<ModelClient>> {
        use PlanState::{CollectContext, DraftOutline, DraftRoadmap, DraftSchedule};
        let state = talk.place.state;
        self.model.as_ref().filter(|client| {
            let works = match client.planning_profile(talk) {
                // One that was never tried is tried first, in whichever state comes first.
                _ if client.is_profile_unproven(talk) => {
                    matches!(state, CollectContext | DraftOutline | DraftRoadmap | DraftSchedule)
                }
                AgentProfile::Large => {
                    matches!(state, CollectContext | DraftOutline | DraftRoadmap | DraftSchedule)
                }
                AgentProfile::Small => matches!(state, DraftOutline | DraftRoadmap),
            };
            works && !talk.offline
        })
    }

    pub(crate) fn local_date(&self, now: Timestamp) -> Date {
        // A zone that only this system knows by name: dates are then those of UTC.
        let zone = TimeZone::get(&self.time_zone).unwrap_or(TimeZone::UTC);
        now.to_zoned(zone).date()
    }

    /// What goals are read with: the person's day and part of the world.
    pub(crate) fn goal_parse_context(&self, now: Timestamp) -> GoalParseContext {
        let region = match self.profile.days_off.country {
            Some(country) => CalendarRegion::from_country(country.code()),
            None => CalendarRegion::from_time_zone(&self.time_zone),
        };
        GoalParseContext::new(self.local_date(now), 5).in_region(region)
    }

    fn proposal_mode(&self) -> SubtypeProposals {
        if self.settings.allow_new_subtype_proposals {
            SubtypeProposals::Allowed
        } else {
            SubtypeProposals::Off
        }
    }
}

/// What a simple reader understands of the goal, for a model to check.
fn said_hints(talk: &PlanningSlice, read_as: GoalParseContext, today: Date) -> Vec<String> {
    let goal = planwright_drafting::offline::goal::Goal::parse(&talk.goal, read_as);
    planwright_drafting::fact_reading::read_goal_facts(&goal)
        .into_iter()
        .filter_map(|fact| Some(format!("\"{}\" = {}", fact.text, fact.reading?.describe(today))))
        .collect()
}

/// A subtype that the person named in words: the words as one plain name, if they make one.
pub(crate) fn parse_subtype_name(text: &str) -> Option<String> {
    let name: String = text
        .trim()
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let name = name.trim_matches('_').to_owned();
    planwright_model::pattern::is_valid_subtype_name(&name).then_some(name)
}

#[cfg(test)]
mod tests;
