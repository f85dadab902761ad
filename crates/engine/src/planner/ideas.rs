//! Ideas beside the plan: offered unasked where the policy says so, and whenever the person asks for them.

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::model::{ModelDesk, Say};
use super::{Planner, Work, trace};
use planwright_drafting::controller::Outcome;
use planwright_drafting::offline::{self, Today};
use planwright_drafting::voice;
use planwright_model::PatternType;
use planwright_model::event::{Event, PlanningEvent};
use planwright_state::PlanningSlice;

/// The most characters of an idea; it is one line.
const IDEA_CHARS: usize = 200;

impl Planner {
    /// Whether ideas are offered now without being asked for. A small goal gets none, unless the person wants them.
    pub(super) fn offers_ideas(
        talk: &PlanningSlice,
        confidence: Option<f64>,
        margin: Option<f64>,
    ) -> bool {
        !talk.small_goal
            && talk.ideas.is_empty()
            && voice::brainstorms(&talk.policy(), confidence, margin, talk.brainstormed)
    }

    /// Ideas that need no model.
    pub(super) fn own_ideas(&self, talk: &PlanningSlice, now: Timestamp) -> Vec<String> {
        let context = self.context_of(talk, now);
        let pattern = self.likely_pattern(talk, &context.goal_text, now);
        voice::ideas(&context, pattern, voice::ideas_shown(&talk.policy()))
    }

    /// The pattern that was chosen, or the one that would be.
    fn likely_pattern(&self, talk: &PlanningSlice, goal: &str, now: Timestamp) -> PatternType {
        if let Some(choice) = &talk.pattern {
            return choice.pattern.pattern_type;
        }
        let today = Today { date: self.today(now), working_days: 5 };
        let goal = offline::Goal::parse(goal, today);
        offline::select(&goal, &self.library, self.proposals()).pattern.pattern_type
    }

    /// Adds ideas to the work of a stage.
    pub(super) fn with_ideas(&self, work: Work, talk: &PlanningSlice, now: Timestamp) -> Work {
        let watch = trace::Watch::start(talk, "Brainstormer", &self.session);
        let ideas = self.own_ideas(talk, now);
        offered(watch, work, ideas)
    }

    /// The same with a model, whose ideas count only if they are enough and one line each.
    pub(super) async fn with_model_ideas(
        &self,
        desk: &ModelDesk,
        work: Work,
        talk: &PlanningSlice,
        now: Timestamp,
        say: Say<'_>,
        cancel: &CancellationToken,
    ) -> Work {
        let watch = trace::Watch::start(talk, "Brainstormer", &self.session);
        let wanted = voice::ideas_shown(&talk.policy());
        let told =
            self.consult_for_ideas(desk, talk, now, say, cancel, |args| read(args, wanted)).await;
        // Ideas are a courtesy: a model that has none holds nothing up.
        let ideas = told.unwrap_or_else(|| self.own_ideas(talk, now));
        offered(watch, work, ideas)
    }

    /// Ideas because the person asked for them, as events of their own.
    pub async fn brainstorm(
        &self,
        talk: &PlanningSlice,
        now: Timestamp,
        say: Say<'_>,
        cancel: &CancellationToken,
    ) -> Vec<Event> {
        let work = Work::new(Outcome::Success);
        let desk = self.model.as_ref().filter(|_| !talk.offline);
        let work = match desk {
            Some(desk) => self.with_model_ideas(desk, work, talk, now, say, cancel).await,
            None => self.with_ideas(work, talk, now),
        };
        work.events
    }
}

fn offered(watch: trace::Watch, work: Work, ideas: Vec<String>) -> Work {
    let told = ideas.clone();
    watch.done(work.say(PlanningEvent::IdeasOffered { ideas }), Some(1.0), told)
}

fn read(args: &Value, wanted: usize) -> Result<Vec<String>, Vec<String>> {
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
