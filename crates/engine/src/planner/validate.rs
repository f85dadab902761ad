//! Checking a stage: the grammar finds what is broken, the confidence is judged, the table decides.

use jiff::Timestamp;

use super::{Planner, Work, trace};
use planwright_drafting::controller::{Outcome, stage_outcome};
use planwright_model::event::PlanningEvent;
use planwright_model::{Stage, StageJudgement};
use planwright_plan::confidence::{Facts, judge};
use planwright_plan::grammar::{PlanArtifacts, Surroundings, validate};
use planwright_state::PlanningSlice;

impl Planner {
    /// The plan as it stands, as the grammar looks at it.
    pub(super) fn artifacts(&self, talk: &PlanningSlice) -> Option<PlanArtifacts> {
        let outline = talk.outline.as_deref()?.clone();
        let mut plan = PlanArtifacts::new(outline);
        plan.roadmap = talk.roadmap.as_deref().cloned();
        plan.schedule = talk.schedule.as_deref().cloned();
        plan.adaptation_log.clone_from(&talk.adaptation_log);
        plan.surroundings = Surroundings {
            fixed_events: self.events.to_vec(),
            other_blocks: self.others.iter().map(|other| other.block.clone()).collect(),
            accepted_late: talk.accepted_late,
            allow_proposals: self.settings.allow_new_subtype_proposals,
        };
        Some(plan)
    }

    pub(super) fn validate(&self, stage: Stage, talk: &PlanningSlice, now: Timestamp) -> Work {
        let watch = trace::Watch::start(talk, "GrammarValidator", &self.session);
        let Some(mut plan) = self.artifacts(talk) else {
            return watch.done(Work::new(Outcome::InvalidFatal), Some(0.0), Vec::new());
        };
        // A stage is judged on its own: what a later one left behind from before a revision does not count.
        if stage < Stage::Schedule {
            plan.schedule = None;
        }
        if stage < Stage::Roadmap {
            plan.roadmap = None;
        }
        let violations = validate(stage, &plan);
        let score = talk.self_scores.get(&stage).copied();
        let settings = &self.settings.confidence;
        let confidence = judge(stage, &plan, &Facts::default(), &violations, score, settings);
        let value = confidence.value;
        let explanations = violations
            .iter()
            .map(|found| format!("{} {} {}", found.rule, found.message, found.suggested_fix))
            .collect();
        let judgement = StageJudgement { confidence, violations };
        let work = Work::new(stage_outcome(stage, &judgement))
            .say(PlanningEvent::Judged { stage, judgement });
        let work = watch.done(work, Some(value), explanations);
        if work.outcome == Outcome::Unsure && Self::offers_ideas(talk, Some(value), None) {
            return self.with_ideas(work, talk, now);
        }
        work
    }
}
