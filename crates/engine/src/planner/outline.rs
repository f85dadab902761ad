//! Drafting the outline: the pattern first, then its nodes; later drafts follow change requests and mend what was broken.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Planner, StageResult, preservation, trace};
use planwright_drafting::controller::{ControllerOutcome, requires_approval};
use planwright_drafting::offline;
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{
    ApprovalTarget, PatternChoice, PlanContext, PlanDrafter, PlanNode, PlanOutline,
    PlanningToolName, Stage,
};
use planwright_plan::edit;
use planwright_plan::grammar::repair_stage;
use planwright_state::PlanningSlice;

impl Planner {
    pub(super) fn draft_outline(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        let mut work = StageResult::new(ControllerOutcome::Success);
        let first = talk.outline.is_none() && talk.pattern.is_none();
        if first && Self::should_offer_ideas(talk, None, None) {
            work = self.add_ideas(work, talk, now);
        }
        let pattern = if let Some(choice) = self.settled_pattern(talk) {
            choice.clone()
        } else {
            let watch = trace::ToolTraceTimer::start(
                talk,
                PlanningToolName::PatternSelector,
                &self.session,
            );
            let choice = self.choose_kind(talk, now);
            let (confidence, told) = (choice.confidence, choice.explanations.clone());
            let said = self.answered_kind(talk).is_some();
            work = work.with_event(if said {
                PlanningEvent::KindChosen { choice: choice.clone() }
            } else {
                PlanningEvent::PatternPicked { choice: choice.clone() }
            });
            work = watch.finish(work, Some(confidence), told);
            let quick = choice.pattern.is_subtype("quick");
            let offered = work
                .events
                .iter()
                .any(|event| matches!(event, Event::Planning(PlanningEvent::IdeasOffered { .. })));
            if !quick && !offered && Self::should_offer_ideas(talk, None, Some(choice.margin)) {
                work = self.add_ideas(work, talk, now);
            }
            choice
        };
        if let Some(stop) = self.pattern_gate(talk, &pattern) {
            work.outcome = stop;
            return work;
        }
        let retries = talk.counters.stage_retries(Stage::Outline);
        match talk.outline.as_deref() {
            Some(before) if !talk.change_requests.is_empty() => {
                self.apply_change_requests(talk, before, work, now)
            }
            Some(_) if retries == 1 => self.repair_outline(talk, work, now),
            _ => self.generate_nodes(talk, &pattern, work, now),
        }
    }

    /// The pattern chosen before, unless nobody was sure of it.
    pub(super) fn settled_pattern<'a>(&self, talk: &'a PlanningSlice) -> Option<&'a PatternChoice> {
        let least = self.settings.confidence.confidence_escalate;
        talk.pattern.as_ref().filter(|choice| {
            choice.confidence >= least
                || choice.pattern.kind.is_some()
                || talk.approved.contains(&ApprovalTarget::Pattern)
        })
    }

    /// Whether a pattern must be decided on before anything is drafted from it.
    pub(super) fn pattern_gate(
        &self,
        talk: &PlanningSlice,
        choice: &PatternChoice,
    ) -> Option<ControllerOutcome> {
        let subtype =
            choice.pattern.proposed_name().is_some() && self.settings.require_rfc_for_new_subtype;
        // A whole new pattern is never used without a word of the person's.
        if subtype || choice.proposed_pattern.is_some() {
            return Some(ControllerOutcome::RfcPending);
        }
        // A kind that nobody was sure of was asked about before, or assumed because nobody answered.
        let asked_before = choice.pattern.kind.is_some();
        if !asked_before && choice.confidence < self.settings.confidence.confidence_escalate {
            return Some(ControllerOutcome::LowConfidence);
        }
        let asked = requires_approval(&talk.interaction_policy(), false, ApprovalTarget::Pattern);
        (asked && !talk.approved.contains(&ApprovalTarget::Pattern))
            .then_some(ControllerOutcome::PatternChosen)
    }

    pub(super) fn plan_context(&self, talk: &PlanningSlice, now: Timestamp) -> PlanContext {
        talk.context.as_deref().cloned().unwrap_or_else(|| {
            let today = self.local_date(now);
            let start = today.tomorrow().unwrap_or(today);
            PlanContext::new(&talk.goal, start, &self.time_zone)
        })
    }

    fn generate_nodes(
        &self,
        talk: &PlanningSlice,
        choice: &PatternChoice,
        work: StageResult,
        now: Timestamp,
    ) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::NodeGenerator, &self.session);
        let mut context = self.plan_context(talk, now);
        context.pattern = Some(choice.pattern.clone());
        match offline::draft_outline(
            context,
            &self.library,
            self.local_date(now),
            self.proposal_mode(),
        ) {
            Ok(draft) => {
                let mut outline = draft.outline;
                outline.pattern = Some(choice.pattern.clone());
                outline.plan_context.pattern = Some(choice.pattern.clone());
                for idea in &talk.taken_ideas {
                    outline = with_idea(outline, idea);
                }
                if let Some(before) = talk.outline.as_deref() {
                    outline.version = before.version + 1;
                    preservation::restore_locked_nodes(before, &mut outline, &talk.locked);
                }
                let work = work.with_event(outline_drafted_event(outline));
                watch.finish(work, Some(choice.confidence), draft.notes)
            }
            Err(error) => {
                let mut work = work
                    .with_event(PlanningEvent::Said { text: format!("{error}: {}", error.hint()) });
                work.outcome = ControllerOutcome::FatalError;
                watch.finish(work, Some(0.0), vec![error.to_string()])
            }
        }
    }

    /// The first retry: every mechanical remedy, nothing else.
    pub(super) fn repair_outline(
        &self,
        talk: &PlanningSlice,
        mut work: StageResult,
        now: Timestamp,
    ) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::NodeGenerator, &self.session);
        let Some(mut plan) = self.plan_artifacts(talk) else { return work };
        plan.roadmap = None;
        plan.schedule = None;
        let log = repair_stage(&mut plan, Stage::Outline, now);
        let told = log.iter().map(|entry| entry.reason.clone()).collect();
        for entry in log {
            work = work.with_event(PlanningEvent::Adapted { entry });
        }
        if let Some(before) = talk.outline.as_deref() {
            preservation::restore_locked_nodes(before, &mut plan.outline, &talk.locked);
        }
        // A remedy by rule changes nothing about how sure the drafter was of its outline.
        let drafted = PlanningEvent::OutlineDrafted {
            outline: Arc::new(plan.outline),
            by: PlanDrafter::Offline,
            self_score: talk.self_scores.get(&Stage::Outline).copied(),
        };
        watch.finish(work.with_event(drafted), Some(1.0), told)
    }
}

/// The empty steps of a plan of own steps that has real ones as well.
pub(crate) fn empty_steps(outline: &PlanOutline) -> Vec<planwright_model::TaskId> {
    if !outline.pattern.as_ref().is_some_and(planwright_model::PatternSpec::is_own_steps) {
        return Vec::new();
    }
    let tree = outline.node_tree();
    let leaves = tree.leaves(&outline.root_id);
    let (empty, real): (Vec<&PlanNode>, Vec<&PlanNode>) =
        leaves.into_iter().partition(|leaf| leaf.title.trim().is_empty());
    if real.is_empty() { Vec::new() } else { empty.iter().map(|leaf| leaf.id.clone()).collect() }
}

/// The outline with an idea of the person's as a task of its own.
fn with_idea(outline: PlanOutline, idea: &str) -> PlanOutline {
    let Some(change) = crate::controller::planning::idea_edit(&outline, idea) else {
        return outline;
    };
    match edit::apply_edit(&outline, None, &change, &BTreeSet::new()) {
        Ok(edited) => edited.outline,
        Err(error) => {
            tracing::warn!(%error, "an idea could not be added to a draft");
            outline
        }
    }
}

pub(super) fn outline_drafted_event(outline: PlanOutline) -> PlanningEvent {
    PlanningEvent::OutlineDrafted {
        outline: Arc::new(outline),
        by: PlanDrafter::Offline,
        self_score: None,
    }
}
