//! Collecting context: what the goal says, what is missing, and what may be asked.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Planner, StageResult, answers, trace};
use crate::said;
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::goal_reading::read_goal;
use planwright_drafting::offline::{self, ContextQuestion, Goal, KindPick, KindVerdict, kind};
use planwright_model::event::{PlanSketch, PlanningEvent};
use planwright_model::requests::{KIND_QUESTION, kind_question};
use planwright_model::{Autonomy, PatternSpec, PlanContext, PlanQuestion, PlanningToolName};
use planwright_state::PlanningSlice;

/// Asks which kind of plan it is.
fn ask_kind(context: &PlanContext, pick: &KindPick, notes: &[String]) -> StageResult {
    let best = pick.best().filter(|best| best.score >= kind::LEAST_SCORE);
    let question = kind_question(&super::kind::offered(pick), best.map(|best| &best.pattern));
    let asked = StageResult::new(ControllerOutcome::KindUnknown);
    let asked = match notes {
        [] => asked,
        // A language that is not read is told before the choices.
        notes => asked.with_event(PlanningEvent::Said { text: notes.join("\n") }),
    };
    asked
        .with_event(PlanningEvent::ContextSet { context: Arc::new(context.clone()) })
        .with_event(PlanningEvent::QuestionsFound { questions: vec![question], sketch: None })
}

/// A goal that is longer is read by a model, whatever the rules make of it.
const SHORT_GOAL_CHARS: usize = 200;

/// How many questions may be asked now: as many as the policy probes, fewer rounds under high autonomy.
pub(crate) fn questions_allowed(talk: &PlanningSlice) -> usize {
    let policy = talk.interaction_policy();
    let asked = talk.counters.clarify_rounds;
    let rounds = match policy.autonomy {
        Autonomy::High => 1,
        Autonomy::Medium | Autonomy::Low => talk.limits.clarify_round_limit,
    };
    if asked < rounds { usize::from(policy.probing_depth) } else { 0 }
}

impl Planner {
    /// The kind of plan, if it is settled or sure enough. `Err` asks for it, or for a goal that says more. A model
    /// finds the kind itself.
    fn settle_kind(
        &self,
        talk: &PlanningSlice,
        context: &PlanContext,
        now: Timestamp,
    ) -> Result<Option<PatternSpec>, Box<StageResult>> {
        if let Some(choice) = &talk.pattern {
            return Ok(Some(choice.pattern.clone()));
        }
        if let Some(pattern) = self.answered_kind(talk) {
            return Ok(Some(pattern));
        }
        let pick = self.pick_kind(talk, now);
        if self.model.is_some() && !talk.offline {
            // A model reads what no rule can, but two words without a subject say nothing to anybody.
            let says_nothing = pick.verdict == KindVerdict::Unclear
                && context.goal_text.chars().count() < SHORT_GOAL_CHARS;
            if !says_nothing {
                return Ok(None);
            }
        }
        let skipped = talk.skipped_questions.contains(KIND_QUESTION);
        match pick.verdict {
            KindVerdict::Sure => Ok(None),
            KindVerdict::Unclear => {
                let context = Arc::new(context.clone());
                Err(Box::new(
                    StageResult::new(ControllerOutcome::GoalMissing)
                        .with_event(PlanningEvent::ContextSet { context }),
                ))
            }
            KindVerdict::Unsure if skipped && pick.score() >= kind::LEAST_SCORE => Ok(None),
            KindVerdict::Unsure => {
                let notes = read_goal(&context.goal_text, self.local_date(now)).notes;
                Err(Box::new(ask_kind(context, &pick, &notes)))
            }
        }
    }

    /// The context of a goal with everything else that the person said and answered.
    pub(super) fn new_plan_context(
        &self,
        talk: &PlanningSlice,
        goal: &str,
        now: Timestamp,
    ) -> PlanContext {
        let today = self.local_date(now);
        let start = today.tomorrow().unwrap_or(today);
        let mut context = self.profile.new_context(goal, start, &self.time_zone);
        said::apply_later_limits(&mut context, &talk.facts);
        let read_as = self.goal_parse_context(now);
        for (key, answer) in talk.answers.iter().filter(|(key, _)| *key != KIND_QUESTION) {
            // An answer that can't be read was asked again when it was given.
            let _ = answers::apply_answer(&mut context, key, answer, read_as);
        }
        context.pattern = talk.pattern.as_ref().map(|choice| choice.pattern.clone());
        context
    }

    pub(super) fn collect_context(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::ContextElicitor, &self.session);
        let today = self.local_date(now);
        let given = talk.context.as_deref().cloned();
        let mut context = given.unwrap_or_else(|| {
            let start = today.tomorrow().unwrap_or(today);
            let mut context = self.profile.new_context(&talk.goal, start, &self.time_zone);
            said::apply_later_limits(&mut context, &talk.facts);
            context
        });
        let read_as = self.goal_parse_context(now);
        let goal = Goal::parse(&context.goal_text, read_as);
        if let Some(why) = why_no_goal(&goal) {
            let mut work = StageResult::new(ControllerOutcome::GoalMissing);
            if !context.goal_text.trim().is_empty() {
                work = work.with_event(PlanningEvent::Said { text: why.clone() });
            }
            return watch.finish(work, Some(1.0), vec![why]);
        }
        let mut notes = Vec::new();
        for (key, answer) in talk.answers.iter().filter(|(key, _)| *key != KIND_QUESTION) {
            let known = context
                .find_assumption(key)
                .is_some_and(|known| known.origin == planwright_model::AssumptionOrigin::User);
            if !known && let Err(why) = answers::apply_answer(&mut context, key, answer, read_as) {
                notes.push(why);
            }
        }
        let pattern = match self.settle_kind(talk, &context, now) {
            Ok(pattern) => pattern,
            Err(stop) => return watch.finish(*stop, Some(0.0), notes),
        };
        context.pattern = pattern;
        let draft =
            match offline::draft_outline(context, &self.library, today, self.proposal_mode()) {
                Ok(draft) => draft,
                Err(error) => {
                    let work = StageResult::new(ControllerOutcome::FatalError).with_event(
                        PlanningEvent::Said { text: format!("{error}: {}", error.hint()) },
                    );
                    return watch.finish(work, Some(0.0), vec![error.to_string()]);
                }
            };
        notes.extend(draft.notes);
        // A model drafts in its own way, which nobody knows before it did.
        let sketch = talk.offline.then(|| {
            let (root_id, nodes) = (draft.outline.root_id, draft.outline.nodes);
            Arc::new(PlanSketch { root_id, nodes })
        });
        let mut context = draft.outline.plan_context;
        context.pattern = talk.pattern.as_ref().map(|choice| choice.pattern.clone());
        let mut open: Vec<ContextQuestion> = draft.questions;
        open.retain(|question| !talk.skipped_questions.contains(&question.key));
        let asks_date = ask_for_unusable_date(&mut open, &goal, &context);
        let known = context.assumptions.len() as f64;
        let confidence = 1.0 - 0.5 * open.len() as f64 / known.max(1.0);
        // Nobody can assume what was meant by a date that does not exist, so it is asked in any case.
        let allowed = questions_allowed(talk).max(usize::from(asks_date));
        let mut work = StageResult::new(match (open.is_empty(), allowed) {
            (true, _) => ControllerOutcome::SufficientContext,
            (false, 0) => ControllerOutcome::AssumedContext,
            (false, _) => ControllerOutcome::NeedsClarification,
        })
        .with_event(PlanningEvent::ContextSet { context: Arc::new(context) });
        for event in said::goal_events(talk, read_as) {
            work = work.with_event(event);
        }
        if work.outcome == ControllerOutcome::NeedsClarification {
            open.truncate(allowed);
            let questions = open
                .into_iter()
                .map(|ContextQuestion { key, text, assumed, changes, choices }| PlanQuestion {
                    key,
                    text,
                    assumed,
                    changes,
                    choices,
                })
                .collect();
            work = work.with_event(PlanningEvent::QuestionsFound { questions, sketch });
        }
        let fresh: Vec<&str> =
            notes.iter().filter(|note| !talk.notes.contains(note)).map(String::as_str).collect();
        if !fresh.is_empty() {
            work = work.with_event(PlanningEvent::Said { text: fresh.join("\n") });
        }
        watch.finish(work, Some(confidence), notes)
    }
}

/// Why a text is not a goal that can be planned, in a sentence.
pub(super) fn why_no_goal(goal: &Goal) -> Option<String> {
    if goal.text.is_empty() {
        return Some("there is no goal yet".to_owned());
    }
    if goal.text.chars().count() > PlanContext::MAX_GOAL_CHARS {
        return Some(format!(
            "The goal has more than {} characters. Say it in a sentence or two; details can follow as changes.",
            PlanContext::MAX_GOAL_CHARS
        ));
    }
    (goal.word_count() == 0).then(|| {
        "There are no words in the goal. Say in a sentence what you want to reach.".to_owned()
    })
}

/// A date that does not exist or has passed is asked for first, whatever else is open, and cannot be skipped. Returns
/// whether it is asked for.
fn ask_for_unusable_date(
    open: &mut Vec<ContextQuestion>,
    goal: &Goal,
    context: &PlanContext,
) -> bool {
    let (Some(why), None) = (goal.unusable_dates.first(), goal.last_day()) else { return false };
    let stated = |key: &str| {
        let known = context.find_assumption(key);
        known.is_some_and(|found| found.origin == planwright_model::AssumptionOrigin::User)
    };
    if context.constraints.deadline.is_some() || stated("day") || stated("horizon_weeks") {
        return false;
    }
    let why = why.split(';').next().unwrap_or(why);
    // "on 2020-06-12" is the day of the thing itself, "by 2020-06-12" the end of the work.
    let key = if why.starts_with("\"on ") { "day" } else { "horizon_weeks" };
    let place = open.iter().position(|question| question.key == key);
    let asked = place.map(|place| open.remove(place));
    let question = asked.unwrap_or_else(|| ContextQuestion {
        key: "horizon_weeks".to_owned(),
        text: String::new(),
        assumed: String::new(),
        changes: "It decides when the plan ends and how full the weeks are.".to_owned(),
        choices: Vec::new(),
    });
    let words = match question.key.as_str() {
        "day" => question.text.as_str(),
        _ => "By when should it be done?",
    };
    let text = format!("{words} {why}.");
    open.insert(0, ContextQuestion { text, assumed: String::new(), ..question });
    true
}
