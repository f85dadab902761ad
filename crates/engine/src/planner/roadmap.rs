//! Drafting the roadmap: estimates, links, and the options that were compared.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Planner, StageResult, preservation, trace};
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::offline::{self, PlanApproach, RoadmapDraft, RoadmapPreferences};
use planwright_model::event::PlanningEvent;
use planwright_model::{
    AdaptationAction, AdaptationLogEntry, NodeOrigin, PlanDrafter, PlanOutline, PlanningToolName,
    Roadmap, Stage, TaskId,
};
use planwright_plan::grammar::repair_stage;
use planwright_schedule::critical_path;
use planwright_state::PlanningSlice;

impl Planner {
    pub(super) fn draft_roadmap(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        let Some(outline) = talk.outline.as_deref() else {
            return StageResult::new(ControllerOutcome::MissingPrerequisite);
        };
        if !talk.change_requests.is_empty() {
            return self.apply_change_requests(
                talk,
                outline,
                StageResult::new(ControllerOutcome::Success),
                now,
            );
        }
        if talk.counters.stage_retries(Stage::Roadmap) == 1 && talk.roadmap.is_some() {
            return self.repair_roadmap(talk, now);
        }
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::RoadmapBuilder, &self.session);
        let request = RoadmapPreferences { approach: chosen_option(talk), conflict_minutes: 0 };
        match offline::build_roadmap(outline, &self.library, request) {
            Ok(draft) => {
                let told = draft
                    .roadmap
                    .options_tried
                    .iter()
                    .map(|option| {
                        format!("{}: {} {}", option.label, option.summary, option.rationale)
                    })
                    .collect();
                watch.finish(finish_roadmap(talk, outline, draft, now), Some(1.0), told)
            }
            Err(error) => {
                let work = StageResult::new(ControllerOutcome::FatalError)
                    .with_event(PlanningEvent::Said { text: format!("{error}: {}", error.hint()) });
                watch.finish(work, Some(0.0), vec![error.to_string()])
            }
        }
    }

    fn repair_roadmap(&self, talk: &PlanningSlice, now: Timestamp) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::DependencyResolver, &self.session);
        let mut work = StageResult::new(ControllerOutcome::Success);
        let Some(mut plan) = self.plan_artifacts(talk) else { return work };
        plan.schedule = None;
        let log = repair_stage(&mut plan, Stage::Roadmap, now);
        let told = log.iter().map(|entry| entry.reason.clone()).collect();
        for entry in log {
            work = work.with_event(PlanningEvent::Adapted { entry });
        }
        if let Some(mut roadmap) = plan.roadmap {
            update_derived_fields(&mut roadmap);
            work = work.with_event(PlanningEvent::RoadmapDrafted {
                roadmap: Arc::new(roadmap),
                by: PlanDrafter::Offline,
                self_score: talk.self_scores.get(&Stage::Roadmap).copied(),
            });
        }
        watch.finish(work, Some(1.0), told)
    }
}

fn finish_roadmap(
    talk: &PlanningSlice,
    outline: &PlanOutline,
    draft: RoadmapDraft,
    now: Timestamp,
) -> StageResult {
    let mut roadmap = draft.roadmap;
    let before = talk.roadmap.as_deref();
    let another =
        before.filter(|before| talk.picked_option.is_some() && is_other_version(before, &roadmap));
    let carried = another.is_some_and(|before| {
        preservation::carry_over_version(outline, before, &mut roadmap, &talk.locked)
    });
    if !carried {
        preservation::carry_over_decisions(outline, before, &mut roadmap);
    }
    preservation::restore_locked_roadmap(talk.roadmap.as_deref(), &mut roadmap, &talk.locked);
    update_derived_fields(&mut roadmap);
    let mut work = StageResult::new(ControllerOutcome::Success);
    let mut entries = talk.adaptation_log.len();
    let mut note = |action, node_ids: Vec<TaskId>, reason: &str| {
        entries += 1;
        AdaptationLogEntry {
            id: format!("a{entries}"),
            timestamp: now,
            node_ids,
            action,
            reason: reason.to_owned(),
            origin: NodeOrigin::System,
            strategy_applied: None,
            portfolio_impact: None,
            from_version: outline.version,
            to_version: outline.version,
        }
    };
    if !draft.added.is_empty() {
        let entry = note(AdaptationAction::Add, draft.added, "the thorough way adds checks");
        work = work.with_event(PlanningEvent::Adapted { entry });
    }
    if !draft.removed.is_empty() {
        let entry =
            note(AdaptationAction::Remove, draft.removed, "the lean way leaves optional tasks out");
        work = work.with_event(PlanningEvent::Adapted { entry });
    }
    work.with_event(PlanningEvent::RoadmapDrafted {
        roadmap: Arc::new(roadmap),
        by: PlanDrafter::Offline,
        self_score: None,
    })
}

/// Whether a roadmap is another of the options than the present one.
fn is_other_version(before: &Roadmap, after: &Roadmap) -> bool {
    let chosen = |roadmap: &Roadmap| {
        roadmap.options_tried.iter().find(|option| option.chosen).map(|option| option.id.clone())
    };
    chosen(before) != chosen(after)
}

/// The option the person picked, else the first that was not turned down; none leaves it to the rule.
fn chosen_option(talk: &PlanningSlice) -> Option<PlanApproach> {
    let of = |id: &str| PlanApproach::ALL.into_iter().find(|way| way.id() == id);
    if let Some(picked) = talk.picked_option.as_deref().and_then(of) {
        return Some(picked);
    }
    let turned_down = |way: &PlanApproach| talk.excluded_options.iter().any(|id| id == way.id());
    if talk.excluded_options.is_empty() {
        // The last retry drafts the smallest plan that holds.
        return (talk.counters.stage_retries(Stage::Roadmap) >= 2).then_some(PlanApproach::Lean);
    }
    PlanApproach::ALL.into_iter().find(|way| !turned_down(way))
}

/// Works out what follows from nodes and links.
pub(super) fn update_derived_fields(roadmap: &mut Roadmap) {
    let root = roadmap.root_id.clone();
    roadmap.total_minutes = roadmap.node_tree().total_minutes(&root);
    let path = critical_path(roadmap);
    if !path.is_empty() {
        roadmap.critical_path = path;
    }
}
