//! Drafting the roadmap: estimates, links, and the options that were compared.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Planner, Work, keep, trace};
use planwright_drafting::controller::Outcome;
use planwright_drafting::offline::{self, RoadmapDraft, Way, Wish};
use planwright_model::event::PlanningEvent;
use planwright_model::{
    AdaptationAction, AdaptationLogEntry, Origin, PlanOutline, Roadmap, Stage, TaskId,
};
use planwright_plan::grammar::repair;
use planwright_schedule::critical_path;
use planwright_state::PlanningSlice;

impl Planner {
    pub(super) fn draft_roadmap(&self, talk: &PlanningSlice, now: Timestamp) -> Work {
        let Some(outline) = talk.outline.as_deref() else {
            return Work::new(Outcome::MissingPrerequisite);
        };
        if !talk.wishes.is_empty() {
            return self.follow_wishes(talk, outline, Work::new(Outcome::Success), now);
        }
        if talk.counters.retries_of(Stage::Roadmap) == 1 && talk.roadmap.is_some() {
            return self.mend_roadmap(talk, now);
        }
        let watch = trace::Watch::start(talk, "RoadmapBuilder", &self.session);
        let wish = Wish { way: way(talk), conflict_minutes: 0 };
        match offline::build(outline, &self.library, wish) {
            Ok(draft) => {
                let told = draft
                    .roadmap
                    .options_tried
                    .iter()
                    .map(|option| {
                        format!("{}: {} {}", option.label, option.summary, option.rationale)
                    })
                    .collect();
                watch.done(built(talk, outline, draft, now), Some(1.0), told)
            }
            Err(error) => {
                let work = Work::new(Outcome::FatalError)
                    .say(PlanningEvent::Said { text: format!("{error}: {}", error.hint()) });
                watch.done(work, Some(0.0), vec![error.to_string()])
            }
        }
    }

    fn mend_roadmap(&self, talk: &PlanningSlice, now: Timestamp) -> Work {
        let watch = trace::Watch::start(talk, "DependencyResolver", &self.session);
        let mut work = Work::new(Outcome::Success);
        let Some(mut plan) = self.artifacts(talk) else { return work };
        plan.schedule = None;
        let log = repair(&mut plan, Stage::Roadmap, now);
        let told = log.iter().map(|entry| entry.reason.clone()).collect();
        for entry in log {
            work = work.say(PlanningEvent::Adapted { entry });
        }
        if let Some(mut roadmap) = plan.roadmap {
            settle(&mut roadmap);
            work = work.say(PlanningEvent::RoadmapDrafted {
                roadmap: Arc::new(roadmap),
                by: "offline".to_owned(),
                self_score: talk.self_scores.get(&Stage::Roadmap).copied(),
            });
        }
        watch.done(work, Some(1.0), told)
    }
}

fn built(talk: &PlanningSlice, outline: &PlanOutline, draft: RoadmapDraft, now: Timestamp) -> Work {
    let mut roadmap = draft.roadmap;
    keep::decisions(outline, talk.roadmap.as_deref(), &mut roadmap);
    keep::restore_roadmap(talk.roadmap.as_deref(), &mut roadmap, &talk.locked);
    settle(&mut roadmap);
    let mut work = Work::new(Outcome::Success);
    let mut entries = talk.adaptation_log.len();
    let mut note = |action, node_ids: Vec<TaskId>, reason: &str| {
        entries += 1;
        AdaptationLogEntry {
            id: format!("a{entries}"),
            timestamp: now,
            node_ids,
            action,
            reason: reason.to_owned(),
            origin: Origin::System,
            strategy_applied: None,
            portfolio_impact: None,
            from_version: outline.version,
            to_version: outline.version,
        }
    };
    if !draft.added.is_empty() {
        let entry = note(AdaptationAction::Add, draft.added, "the thorough way adds checks");
        work = work.say(PlanningEvent::Adapted { entry });
    }
    if !draft.removed.is_empty() {
        let entry =
            note(AdaptationAction::Remove, draft.removed, "the lean way leaves optional tasks out");
        work = work.say(PlanningEvent::Adapted { entry });
    }
    work.say(PlanningEvent::RoadmapDrafted {
        roadmap: Arc::new(roadmap),
        by: "offline".to_owned(),
        self_score: None,
    })
}

/// The option the person picked, else the first that was not turned down; none leaves it to the rule.
fn way(talk: &PlanningSlice) -> Option<Way> {
    let of = |id: &str| Way::ALL.into_iter().find(|way| way.id() == id);
    if let Some(picked) = talk.picked_option.as_deref().and_then(of) {
        return Some(picked);
    }
    let turned_down = |way: &Way| talk.excluded_options.iter().any(|id| id == way.id());
    if talk.excluded_options.is_empty() {
        // The last retry drafts the smallest plan that holds.
        return (talk.counters.retries_of(Stage::Roadmap) >= 2).then_some(Way::Lean);
    }
    Way::ALL.into_iter().find(|way| !turned_down(way))
}

/// Works out what follows from nodes and links.
pub(super) fn settle(roadmap: &mut Roadmap) {
    let root = roadmap.root_id.clone();
    roadmap.total_minutes = roadmap.tree().minutes(&root);
    let path = critical_path(roadmap);
    if !path.is_empty() {
        roadmap.critical_path = path;
    }
}
