//! Ideas beside the plan: offered unasked where the policy says so, and whenever the person asks for them.

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::model::{ModelClient, PlanningEventSink};
use super::{Planner, StageResult, trace};
use planwright_drafting::agent_messages;
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::PatternType;
use planwright_model::PlanningToolName;
use planwright_model::event::{Event, PlanningEvent};
use planwright_state::PlanningSlice;

/// The most characters of an idea; it is one line.
const IDEA_CHARS: usize = 200;

impl Planner {
    /// Whether ideas are offered now without being asked for. A small goal gets none, unless the person wants them.
    pub(super) fn should_offer_ideas(
        talk: &PlanningSlice,
        confidence: Option<f64>,
        margin: Option<f64>,
    ) -> bool {
        !talk.small_goal
            && talk.ideas.is_empty()
            && agent_messages::should_offer_ideas(
                &talk.interaction_policy(),
                confidence,
                margin,
                talk.brainstormed,
            )
    }

    /// Ideas that need no model.
    pub(super) fn offline_ideas(&self, talk: &PlanningSlice, now: Timestamp) -> Vec<String> {
        let context = self.plan_context(talk, now);
        let pattern = self.likely_pattern(talk, now);
        agent_messages::suggest_ideas(
            &context,
            pattern,
            agent_messages::ideas_shown(&talk.interaction_policy()),
        )
    }

    /// The pattern that was chosen, or the one that would be.
    fn likely_pattern(&self, talk: &PlanningSlice, now: Timestamp) -> PatternType {
        if let Some(choice) = &talk.pattern {
            return choice.pattern.pattern_type;
        }
        self.choose_kind(talk, now).pattern.pattern_type
    }

    /// Adds ideas to the work of a stage.
    pub(super) fn add_ideas(
        &self,
        work: StageResult,
        talk: &PlanningSlice,
        now: Timestamp,
    ) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::Brainstormer, &self.session);
        let ideas = self.offline_ideas(talk, now);
        finish_with_ideas(watch, work, ideas)
    }

    /// The same with a model, whose ideas count only if they are enough and one line each.
    pub(super) async fn add_model_ideas(
        &self,
        client: &ModelClient,
        work: StageResult,
        talk: &PlanningSlice,
        now: Timestamp,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
    ) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::Brainstormer, &self.session);
        let wanted = agent_messages::ideas_shown(&talk.interaction_policy());
        let told = self
            .request_ideas(client, talk, now, say, cancel, |args| parse_ideas(args, wanted))
            .await;
        // Ideas are a courtesy: a model that has none holds nothing up.
        let ideas = told.unwrap_or_else(|| self.offline_ideas(talk, now));
        finish_with_ideas(watch, work, ideas)
    }

    /// Ideas because the person asked for them, as events of their own.
    pub async fn brainstorm(
        &self,
        talk: &PlanningSlice,
        now: Timestamp,
        say: PlanningEventSink<'_>,
        cancel: &CancellationToken,
    ) -> Vec<Event> {
        let work = StageResult::new(ControllerOutcome::Success);
        let client = self.model.as_ref().filter(|_| !talk.offline);
        let work = match client {
            Some(client) => self.add_model_ideas(client, work, talk, now, say, cancel).await,
            None => self.add_ideas(work, talk, now),
        };
        work.events
    }
}

fn finish_with_ideas(
    watch: trace::ToolTraceTimer,
    work: StageResult,
    ideas: Vec<String>,
) -> StageResult {
    let told = ideas.clone();
    watch.finish(work.with_event(PlanningEvent::IdeasOffered { ideas }), Some(1.0), told)
}

fn parse_ideas(args: &Value, wanted: usize) -> Result<Vec<String>, Vec<String>> {
    let given = args.get("ideas").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ideas: Vec<String> = given
        .iter()
        .filter_map(Value::as_str)
        .map(|idea| idea.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|idea| !idea.is_empty())
        .map(|idea| idea.chars().take(IDEA_CHARS).collect())
        .take(wanted)
        .collect();
    if ideas.len() == wanted {
        Ok(ideas)
    } else {
        Err(vec![format!("give {wanted} ideas, one line each")])
    }
}
