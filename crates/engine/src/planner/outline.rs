//! Drafting the outline: the pattern first, then its nodes; later drafts follow wishes and mend what was broken.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Planner, Work, keep, trace};
use planwright_drafting::controller::{Outcome, asks};
use planwright_drafting::offline::{self, Pick, Way};
use planwright_drafting::wishes;
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{
    AdaptationAction, AdaptationLogEntry, ApprovalTarget, Origin, PatternChoice, PlanContext,
    PlanOutline, Roadmap, Stage,
};
use planwright_plan::edit;
use planwright_plan::grammar::repair;
use planwright_state::PlanningSlice;
use planwright_text::units;

impl Planner {
    pub(super) fn draft_outline(&self, talk: &PlanningSlice, now: Timestamp) -> Work {
        let mut work = Work::new(Outcome::Success);
        let first = talk.outline.is_none() && talk.pattern.is_none();
        if first && Self::offers_ideas(talk, None, None) {
            work = self.with_ideas(work, talk, now);
        }
        let pattern = if let Some(choice) = self.settled_pattern(talk) {
            choice.clone()
        } else {
            let watch = trace::Watch::start(talk, "PatternSelector", &self.session);
            let choice = self.select_pattern(talk, now);
            let (confidence, told) = (choice.confidence, choice.explanations.clone());
            work = work.say(PlanningEvent::PatternPicked { choice: choice.clone() });
            work = watch.done(work, Some(confidence), told);
            let quick = choice.pattern.subtype.as_deref() == Some("quick");
            let offered = work
                .events
                .iter()
                .any(|event| matches!(event, Event::Planning(PlanningEvent::IdeasOffered { .. })));
            if !quick && !offered && Self::offers_ideas(talk, None, Some(choice.margin)) {
                work = self.with_ideas(work, talk, now);
            }
            choice
        };
        if let Some(stop) = self.pattern_gate(talk, &pattern) {
            work.outcome = stop;
            return work;
        }
        let retries = talk.counters.retries_of(Stage::Outline);
        match talk.outline.as_deref() {
            Some(before) if !talk.wishes.is_empty() => self.follow_wishes(talk, before, work, now),
            Some(_) if retries == 1 => self.mend_outline(talk, work, now),
            _ => self.generate_nodes(talk, &pattern, work, now),
        }
    }

    /// The pattern chosen before, unless nobody was sure of it.
    pub(super) fn settled_pattern<'a>(&self, talk: &'a PlanningSlice) -> Option<&'a PatternChoice> {
        let least = self.settings.confidence.confidence_escalate;
        talk.pattern.as_ref().filter(|choice| {
            choice.confidence >= least || talk.approved.contains(&ApprovalTarget::Pattern)
        })
    }

    /// Whether a pattern must be decided on before anything is drafted from it.
    pub(super) fn pattern_gate(
        &self,
        talk: &PlanningSlice,
        choice: &PatternChoice,
    ) -> Option<Outcome> {
        let subtype =
            choice.pattern.proposed_name().is_some() && self.settings.require_rfc_for_new_subtype;
        // A whole new pattern is never used without a word of the person's.
        if subtype || choice.proposed_pattern.is_some() {
            return Some(Outcome::RfcPending);
        }
        if choice.confidence < self.settings.confidence.confidence_escalate {
            return Some(Outcome::LowConfidence);
        }
        let asked = asks(&talk.policy(), false, ApprovalTarget::Pattern);
        (asked && !talk.approved.contains(&ApprovalTarget::Pattern))
            .then_some(Outcome::PatternChosen)
    }

    fn select_pattern(&self, talk: &PlanningSlice, now: Timestamp) -> PatternChoice {
        let context = self.context_of(talk, now);
        let today = planwright_drafting::offline::Today { date: self.today(now), working_days: 5 };
        let goal = offline::Goal::parse(&context.goal_text, today);
        let pick = offline::select(&goal, &self.library, self.proposals());
        choice_of(pick, &talk.excluded_options)
    }

    pub(super) fn context_of(&self, talk: &PlanningSlice, now: Timestamp) -> PlanContext {
        talk.context.as_deref().cloned().unwrap_or_else(|| {
            let today = self.today(now);
            let start = today.tomorrow().unwrap_or(today);
            PlanContext::new(&talk.goal, start, &self.time_zone)
        })
    }

    fn generate_nodes(
        &self,
        talk: &PlanningSlice,
        choice: &PatternChoice,
        work: Work,
        now: Timestamp,
    ) -> Work {
        let watch = trace::Watch::start(talk, "NodeGenerator", &self.session);
        let mut context = self.context_of(talk, now);
        context.pattern = Some(choice.pattern.clone());
        match offline::draft(context, &self.library, self.today(now), self.proposals()) {
            Ok(draft) => {
                let mut outline = draft.outline;
                outline.pattern = Some(choice.pattern.clone());
                outline.plan_context.pattern = Some(choice.pattern.clone());
                if let Some(before) = talk.outline.as_deref() {
                    outline.version = before.version + 1;
                    keep::restore(before, &mut outline, &talk.locked);
                }
                let work = work.say(drafted(outline));
                watch.done(work, Some(choice.confidence), draft.notes)
            }
            Err(error) => {
                let mut work =
                    work.say(PlanningEvent::Said { text: format!("{error}: {}", error.hint()) });
                work.outcome = Outcome::FatalError;
                watch.done(work, Some(0.0), vec![error.to_string()])
            }
        }
    }

    /// The first retry: every mechanical remedy, nothing else.
    fn mend_outline(&self, talk: &PlanningSlice, mut work: Work, now: Timestamp) -> Work {
        let watch = trace::Watch::start(talk, "NodeGenerator", &self.session);
        let Some(mut plan) = self.artifacts(talk) else { return work };
        plan.roadmap = None;
        plan.schedule = None;
        let log = repair(&mut plan, Stage::Outline, now);
        let told = log.iter().map(|entry| entry.reason.clone()).collect();
        for entry in log {
            work = work.say(PlanningEvent::Adapted { entry });
        }
        if let Some(before) = talk.outline.as_deref() {
            keep::restore(before, &mut plan.outline, &talk.locked);
        }
        watch.done(work.say(drafted(plan.outline)), Some(1.0), told)
    }

    /// Applies the wishes that can be read to the outline, and to the roadmap that goes with it.
    pub(super) fn follow_wishes(
        &self,
        talk: &PlanningSlice,
        before: &PlanOutline,
        mut work: Work,
        now: Timestamp,
    ) -> Work {
        let watch = trace::Watch::start(talk, "NodeGenerator", &self.session);
        let mut outline = before.clone();
        let mut roadmap = talk.roadmap.as_deref().cloned();
        let (mut met, mut open, mut told) = (Vec::new(), Vec::new(), Vec::new());
        let today = self.today(now);
        let mut entries = talk.adaptation_log.len();
        let mut context_changed = false;
        for wish in &talk.wishes {
            let read = wishes::read(&wish.text, &outline, roadmap.as_ref(), &wish.nodes, today);
            for change in &read.edits {
                match edit::apply(&outline, roadmap.as_ref(), change, &talk.locked) {
                    Ok(edited) => {
                        entries += 1;
                        let entry = AdaptationLogEntry {
                            id: format!("a{entries}"),
                            timestamp: now,
                            node_ids: edited.node_ids,
                            action: edited.action,
                            reason: edited.reason.clone(),
                            origin: Origin::UserFeedback,
                            strategy_applied: None,
                            portfolio_impact: None,
                            from_version: outline.version,
                            to_version: edited.outline.version,
                        };
                        met.push(edited.reason);
                        work = work.say(PlanningEvent::Adapted { entry });
                        outline = edited.outline;
                        roadmap = edited.roadmap;
                    }
                    Err(error) => told.push(error.to_string()),
                }
            }
            for change in &read.context {
                wishes::change(&mut outline.plan_context, change);
                context_changed = true;
                met.push(change.to_string());
            }
            if let Some((wanted, words)) = read.way {
                match self.take_way(wanted, &outline, roadmap.as_ref()) {
                    Ok((rebuilt, reason)) => {
                        let option = wanted.id().to_owned();
                        work = work.say(PlanningEvent::OptionPicked { option });
                        met.push(reason);
                        roadmap = rebuilt;
                    }
                    Err(why) => open.push(format!("{words}: {why}")),
                }
            }
            open.extend(read.unread);
        }
        open.append(&mut told.clone());
        if context_changed {
            outline.version += u32::from(outline.version == before.version);
            entries += 1;
            let entry = AdaptationLogEntry {
                id: format!("a{entries}"),
                timestamp: now,
                node_ids: Vec::new(),
                action: AdaptationAction::Reschedule,
                reason: met.join("; "),
                origin: Origin::UserFeedback,
                strategy_applied: None,
                portfolio_impact: None,
                from_version: before.version,
                to_version: outline.version,
            };
            work = work.say(PlanningEvent::Adapted { entry });
        }
        work = work.say(drafted(outline));
        if let Some(roadmap) = roadmap.filter(|after| talk.roadmap.as_deref() != Some(after)) {
            work = work.say(PlanningEvent::RoadmapDrafted {
                roadmap: Arc::new(roadmap),
                by: "you".to_owned(),
                self_score: None,
            });
        }
        work = work.say(PlanningEvent::WishesMet { met, open });
        watch.done(work, Some(1.0), told)
    }
}

impl Planner {
    /// The roadmap of another option, with what the person decided before. Before there is one, the wish waits for it.
    fn take_way(
        &self,
        wanted: Way,
        outline: &PlanOutline,
        before: Option<&Roadmap>,
    ) -> Result<(Option<Roadmap>, String), String> {
        let Some(before) = before else { return Ok((None, format!("the {} way", wanted.id()))) };
        let chosen = before.options_tried.iter().find(|option| option.chosen);
        if chosen.is_some_and(|option| option.id == wanted.id()) {
            return Err(format!("it is the {} way already; name what to change", wanted.id()));
        }
        let wish = offline::Wish { way: Some(wanted), conflict_minutes: 0 };
        let drafted =
            offline::build(outline, &self.library, wish).map_err(|error| error.to_string())?;
        let mut roadmap = drafted.roadmap;
        keep::decisions(outline, Some(before), &mut roadmap);
        super::roadmap::settle(&mut roadmap);
        let words = format!(
            "the {} way, {} of work instead of {}",
            wanted.id(),
            units::planned(roadmap.total_minutes.into()),
            units::planned(before.total_minutes.into())
        );
        Ok((Some(roadmap), words))
    }
}

pub(super) fn drafted(outline: PlanOutline) -> PlanningEvent {
    PlanningEvent::OutlineDrafted {
        outline: Arc::new(outline),
        by: "offline".to_owned(),
        self_score: None,
    }
}

/// The best pattern that the person did not turn down.
fn choice_of(pick: Pick, excluded: &[String]) -> PatternChoice {
    let turned_down = |spec: &planwright_model::PatternSpec| {
        let name = spec.subtype.clone().unwrap_or_default();
        excluded.iter().any(|option| *option == format!("pattern:{}/{name}", spec.pattern_type))
    };
    let mut first = pick.pattern;
    let mut second = pick.runner_up;
    if turned_down(&first)
        && let Some(other) = second.take()
    {
        second = Some(std::mem::replace(&mut first, other));
    }
    // How sure the selector was belongs to the log, not to the plan.
    first.confidence = None;
    PatternChoice {
        pattern: first,
        confidence: pick.confidence,
        margin: pick.margin,
        second,
        explanations: pick.explanations,
        proposed_pattern: None,
    }
}
