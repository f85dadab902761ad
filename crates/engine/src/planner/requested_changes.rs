//! Change requests without a model: each is read, applied to the outline and the roadmap that goes with it, and reported
//! with what it did. What no operation names stays as it is.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;

use super::outline::outline_drafted_event;
use super::{Planner, StageResult, preservation, trace};
use planwright_drafting::change_requests::{
    ChangeRequestSource, GoalRestatement, MadeChange, apply_change_request, parse_change_request,
};
use planwright_drafting::offline::{self, PlanApproach};
use planwright_model::event::PlanningEvent;
use planwright_model::{
    AdaptationAction, AdaptationLogEntry, Assumption, AssumptionOrigin, NodeOrigin, NodeStatus,
    PlanContext, PlanDrafter, PlanEdit, PlanOutline, PlanningToolName, Roadmap, TaskId,
};
use planwright_plan::edit;
use planwright_state::PlanningSlice;
use planwright_text::units;

/// The plan while requests are applied to it, and what they came to.
struct RequestedDraft {
    outline: PlanOutline,
    roadmap: Option<Roadmap>,
    events: Vec<PlanningEvent>,
    met: Vec<String>,
    open: Vec<String>,
    entries: usize,
}

impl RequestedDraft {
    /// The empty row of a plan of the person's own steps goes once it has real ones.
    fn remove_empty_steps(&mut self, talk: &PlanningSlice) {
        for node in super::outline::empty_steps(&self.outline) {
            let gone = planwright_model::PlanEdit::Remove { node };
            let edited = planwright_plan::edit::apply_edit(
                &self.outline,
                self.roadmap.as_ref(),
                &gone,
                &talk.locked,
            );
            if let Ok(edited) = edited {
                self.outline = edited.outline;
                self.roadmap = edited.roadmap;
            }
        }
    }
}

impl Planner {
    /// Applies the change requests that can be read to the outline, and to the roadmap that goes with it.
    pub(super) fn apply_change_requests(
        &self,
        talk: &PlanningSlice,
        before: &PlanOutline,
        mut work: StageResult,
        now: Timestamp,
    ) -> StageResult {
        let watch =
            trace::ToolTraceTimer::start(talk, PlanningToolName::NodeGenerator, &self.session);
        let mut draft = RequestedDraft {
            outline: before.clone(),
            roadmap: talk.roadmap.as_deref().cloned(),
            events: Vec::new(),
            met: Vec::new(),
            open: Vec::new(),
            entries: talk.adaptation_log.len(),
        };
        for request in &talk.change_requests {
            self.apply_request(talk, &mut draft, &request.text, &request.nodes, now);
        }
        draft.remove_empty_steps(talk);
        for event in draft.events {
            work = work.with_event(event);
        }
        work = work.with_event(outline_drafted_event(draft.outline));
        if let Some(roadmap) = draft.roadmap.filter(|after| talk.roadmap.as_deref() != Some(after))
        {
            work = work.with_event(PlanningEvent::RoadmapDrafted {
                roadmap: Arc::new(roadmap),
                by: PlanDrafter::Person,
                self_score: None,
            });
        }
        let told = draft.open.clone();
        work = work.with_event(PlanningEvent::WishesMet { met: draft.met, open: draft.open });
        watch.finish(work, Some(1.0), told)
    }

    fn apply_request(
        &self,
        talk: &PlanningSlice,
        draft: &mut RequestedDraft,
        text: &str,
        marked: &[TaskId],
        now: Timestamp,
    ) {
        let today = self.local_date(now);
        let read = |draft: &RequestedDraft| {
            let source = ChangeRequestSource {
                outline: &draft.outline,
                roadmap: draft.roadmap.as_ref(),
                planned_end: planned_end(talk),
                marked,
                today,
            };
            parse_change_request(text, &source)
        };
        let mut parsed = read(draft);
        if parsed.asks_undo() {
            draft.go_back(talk);
            parsed = read(draft);
        }
        let outcome = apply_change_request(
            &parsed,
            &draft.outline,
            draft.roadmap.as_ref(),
            &talk.locked,
            today,
        );
        let from = draft.outline.version;
        draft.outline = outcome.outline;
        draft.roadmap = outcome.roadmap;
        draft.open.extend(outcome.open);
        draft.record_made(text, outcome.made, from, now);
        for (restated, words) in outcome.restatements {
            // Read again, since another fact of the same sentence may have changed the goal.
            let source = ChangeRequestSource {
                outline: &draft.outline,
                roadmap: draft.roadmap.as_ref(),
                planned_end: planned_end(talk),
                marked,
                today,
            };
            let again = parse_change_request(&words, &source).restatements().next().cloned();
            match self.restate_goal(talk, draft, &again.unwrap_or(restated), now) {
                Ok(effect) => draft.met.push(effect),
                Err(why) => draft.open.push(format!("{words} ({why})")),
            }
        }
        for (wanted, words) in outcome.approaches {
            match self.switch_option(talk, wanted, draft) {
                Ok((rebuilt, effect)) => {
                    let option = wanted.id().to_owned();
                    draft.events.push(PlanningEvent::OptionPicked { option });
                    draft.record_left_out(rebuilt.as_ref(), &effect, now);
                    draft.met.push(effect);
                    draft.roadmap = rebuilt;
                }
                Err(why) => draft.open.push(format!("{words} ({why})")),
            }
        }
    }

    /// Plans the goal in other words: what a draft of them makes different is changed in the plan, and nothing else.
    fn restate_goal(
        &self,
        talk: &PlanningSlice,
        draft: &mut RequestedDraft,
        restated: &GoalRestatement,
        now: Timestamp,
    ) -> Result<String, String> {
        let from = draft.outline.version;
        let said = draft.outline.plan_context.goal_text.clone();
        let contexts = [&said, &restated.goal].map(|goal| {
            let context = self.new_plan_context(talk, goal, now);
            keep_limits(context, &draft.outline.plan_context)
        });
        let nodes = draft.roadmap.as_ref().map_or(&draft.outline.nodes, |roadmap| &roadmap.nodes);
        let approach = draft.roadmap.as_ref().and_then(chosen_approach);
        let redraft =
            offline::redraft_goal(contexts, &self.library, self.local_date(now), approach, nodes)
                .map_err(|error| error.to_string())?;
        let free = |edit: &PlanEdit| {
            edit.affected_nodes().into_iter().all(|node| !talk.locked.contains(node))
        };
        let edits: Vec<PlanEdit> =
            redraft.edits.iter().filter(|edit| free(edit)).cloned().collect();
        let mut nodes = Vec::new();
        if !edits.is_empty() {
            let edited =
                edit::apply_edits(&draft.outline, draft.roadmap.as_ref(), &edits, &talk.locked)
                    .map_err(|error| error.to_string())?;
            draft.outline = edited.outline;
            draft.roadmap = edited.roadmap;
            nodes = edited.node_ids;
            redraft.mark_chosen_dates(&mut draft.outline.nodes);
            if let Some(roadmap) = &mut draft.roadmap {
                redraft.mark_chosen_dates(&mut roadmap.nodes);
            }
        }
        let pattern = draft.outline.plan_context.pattern.take();
        draft.outline.plan_context = PlanContext { pattern, ..redraft.context };
        let tasks = match nodes.len() {
            0 => "no task names it".to_owned(),
            count => format!("{} changed", units::format_counted(count, "task")),
        };
        let change = MadeChange {
            text: restated.words.clone(),
            edits,
            action: AdaptationAction::Rename,
            node_ids: nodes,
            effect: format!("{}; {tasks}", restated.describe()),
        };
        let effect = change.effect.clone();
        draft.record_made(&restated.words, vec![change], from, now);
        draft.met.pop();
        draft.events.push(PlanningEvent::GoalReworded { goal: restated.goal.clone() });
        Ok(effect)
    }

    /// The roadmap of another option, with what the person decided before. Before there is one, the change request waits
    /// for it.
    fn switch_option(
        &self,
        talk: &PlanningSlice,
        wanted: PlanApproach,
        draft: &RequestedDraft,
    ) -> Result<(Option<Roadmap>, String), String> {
        let Some(before) = &draft.roadmap else {
            return Ok((None, format!("the {} way", wanted.id())));
        };
        let chosen = before.options_tried.iter().find(|option| option.chosen);
        if chosen.is_some_and(|option| option.id == wanted.id()) {
            return Err(format!(
                "no change: it is the {} way already; name what to change",
                wanted.id()
            ));
        }
        if wanted == PlanApproach::Lean {
            return leave_out_optional(talk, draft, before);
        }
        let request = offline::RoadmapPreferences { approach: Some(wanted), conflict_minutes: 0 };
        let drafted = offline::build_roadmap(&draft.outline, &self.library, request)
            .map_err(|error| error.to_string())?;
        let mut roadmap = drafted.roadmap;
        let carried =
            preservation::carry_over_version(&draft.outline, before, &mut roadmap, &talk.locked);
        if !carried {
            preservation::carry_over_decisions(&draft.outline, Some(before), &mut roadmap);
        }
        super::roadmap::update_derived_fields(&mut roadmap);
        let words = format!("the {} way, {}", wanted.id(), describe_work(before, &roadmap));
        Ok((Some(roadmap), words))
    }
}

impl RequestedDraft {
    /// Goes back to the draft before the last change; what else the request says is applied to that one.
    fn go_back(&mut self, talk: &PlanningSlice) {
        // The last step leads away from the present draft, by this very request.
        let before = talk.undo.iter().rev().nth(1);
        let Some((undo, outline)) = before.and_then(|undo| Some((undo, undo.outline.as_deref()?)))
        else {
            self.open.push("undo (nothing to undo)".to_owned());
            return;
        };
        let version = self.outline.version.max(outline.version) + 1;
        self.outline = PlanOutline { version, ..outline.clone() };
        self.roadmap = undo.roadmap.as_deref().cloned();
        self.met.push(format!("undid {}", undo.what));
        if !undo.goal.is_empty() && undo.goal != talk.goal {
            self.events.push(PlanningEvent::GoalReworded { goal: undo.goal.clone() });
        }
    }

    /// Keeps in the log which tasks of the outline an option leaves out, so that nothing takes them for forgotten.
    fn record_left_out(&mut self, after: Option<&Roadmap>, effect: &str, now: Timestamp) {
        let (Some(before), Some(after)) = (&self.roadmap, after) else { return };
        let gone = before.nodes.iter().filter(|node| after.find_node(&node.id).is_none());
        let node_ids: Vec<TaskId> = gone.map(|node| node.id.clone()).collect();
        if node_ids.is_empty() {
            return;
        }
        let change = MadeChange {
            text: String::new(),
            edits: Vec::new(),
            action: AdaptationAction::Remove,
            node_ids,
            effect: effect.to_owned(),
        };
        let version = self.outline.version;
        let entry = self.log_entry(&change, (version, version), now);
        self.events.push(PlanningEvent::Adapted { entry });
    }

    fn log_entry(
        &mut self,
        change: &MadeChange,
        (from_version, to_version): (u32, u32),
        now: Timestamp,
    ) -> AdaptationLogEntry {
        self.entries += 1;
        AdaptationLogEntry {
            id: format!("a{}", self.entries),
            timestamp: now,
            node_ids: change.node_ids.clone(),
            action: change.action,
            reason: change.effect.clone(),
            origin: NodeOrigin::UserFeedback,
            strategy_applied: None,
            portfolio_impact: None,
            from_version,
            to_version,
        }
    }

    /// Keeps each change that was made in the log.
    fn record_made(&mut self, text: &str, made: Vec<MadeChange>, from: u32, now: Timestamp) {
        let edits: Vec<PlanEdit> =
            made.iter().flat_map(|change| change.edits.iter().cloned()).collect();
        let only_limits = edits.is_empty() && !made.is_empty();
        self.outline.version += u32::from(only_limits && self.outline.version == from);
        for change in made {
            let entry = self.log_entry(&change, (from, self.outline.version), now);
            self.events.push(PlanningEvent::Adapted { entry });
            self.met.push(change.effect);
        }
        if !edits.is_empty() {
            let text = text.to_owned();
            self.events.push(PlanningEvent::RequestRead { text, edits });
        }
    }
}

/// A context for the same plan with the limits that the plan has: hours, days off, people and the first day.
fn keep_limits(mut context: PlanContext, plan: &PlanContext) -> PlanContext {
    context.constraints.start = plan.constraints.start;
    context.constraints.max_daily_minutes = plan.constraints.max_daily_minutes;
    context.constraints.hard.clone_from(&plan.constraints.hard);
    context.calendar.clone_from(&plan.calendar);
    context.user_prefs.clone_from(&plan.user_prefs);
    context.people.clone_from(&plan.people);
    let is_stated = |known: &&Assumption| {
        known.origin == AssumptionOrigin::User && context.find_assumption(&known.key).is_none()
    };
    // What the goal itself says is read from its new words.
    let limits = ["max_daily_minutes", "working", "start", "weekly_minutes"];
    let stated = plan.assumptions.iter().filter(is_stated);
    let stated: Vec<Assumption> =
        stated.filter(|known| limits.contains(&known.key.as_str())).cloned().collect();
    context.assumptions.extend(stated);
    context
}

/// The option that a roadmap follows.
fn chosen_approach(roadmap: &Roadmap) -> Option<PlanApproach> {
    let chosen = roadmap.options_tried.iter().find(|option| option.chosen)?;
    PlanApproach::ALL.into_iter().find(|approach| approach.id() == chosen.id)
}

/// The last day that anything is planned on.
pub(super) fn planned_end(talk: &PlanningSlice) -> Option<Date> {
    let blocks = talk.schedule.as_deref()?.blocks.iter();
    blocks.map(|block| block.end.local_date()).max()
}

/// The lean plan: the same without the tasks that may be left out. Nothing else changes.
fn leave_out_optional(
    talk: &PlanningSlice,
    draft: &RequestedDraft,
    before: &Roadmap,
) -> Result<(Option<Roadmap>, String), String> {
    let tree = before.node_tree();
    let optional: Vec<_> = tree
        .subtree(&before.root_id)
        .into_iter()
        .filter(|node| node.optional && node.status != NodeStatus::Done)
        .filter(|node| !tree.ancestors(&node.id).iter().any(|above| above.optional))
        .filter(|node| !talk.locked.contains(&node.id))
        .collect();
    if optional.is_empty() {
        return Err("no task is optional; name what to leave out".to_owned());
    }
    let edits: Vec<PlanEdit> =
        optional.iter().map(|node| PlanEdit::Remove { node: node.id.clone() }).collect();
    let edited = edit::apply_edits(&draft.outline, Some(before), &edits, &talk.locked)
        .map_err(|error| error.to_string())?;
    let mut roadmap = edited.roadmap.unwrap_or_else(|| before.clone());
    for option in &mut roadmap.options_tried {
        option.chosen = option.id == PlanApproach::Lean.id();
        if option.chosen {
            option.effort_minutes = roadmap.total_minutes;
        }
    }
    let titles: Vec<String> =
        optional.iter().take(4).map(|node| format!("\"{}\"", node.title)).collect();
    let more = match optional.len().saturating_sub(titles.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let words = format!(
        "left out {}: {}{more}; {}",
        units::format_counted(optional.len(), "optional task"),
        titles.join(", "),
        describe_work(before, &roadmap)
    );
    Ok((Some(roadmap), words))
}

fn describe_work(before: &Roadmap, after: &Roadmap) -> String {
    let [before, after] = [before, after].map(|roadmap| roadmap.total_minutes);
    let [before, after] = [before, after].map(|minutes| units::format_planned(minutes.into()));
    format!("{after} of work instead of {before}")
}
