//! What the tools of drafting do to the plan, each change visible as soon as it is made.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::roadmap::update_derived_fields;
use super::super::{StageResult, context};
use super::assumed_limits::AssumedLimits;
use super::calls::ToolCallEnd;
use super::operations::{AppliedOperations, WorkingDraft};
use super::plan_words::{describe_findings, describe_schedule};
use super::readings::apply_readings;
use super::{StageConversation, is_serious};
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::offline::goal::Goal;
use planwright_model::event::{Event, FactEvent, PlanningEvent};
use planwright_model::{
    AdaptationLogEntry, Assumption, AssumptionOrigin, Fact, FactSource, NodeFields, NodeOrigin,
    PlanContext, PlanDrafter, PlanEdit, PlanOutline, Risk, Roadmap, RoadmapOption, Schedule, Stage,
    TaskId, Violation,
};

/// Findings that are shown after each change.
const FINDINGS_SHOWN: usize = 8;

impl StageConversation<'_> {
    /// The rules of a stage on the draft as it is.
    pub(super) fn findings(&self, stage: Stage) -> Vec<Violation> {
        self.planner.stage_violations(stage, &self.talk)
    }

    /// The goal as a fact and the first limits, once.
    pub(super) fn prepare_context(&mut self) -> Option<StageResult> {
        let read_as = self.planner.goal_parse_context(self.now);
        let goal = Goal::parse(&self.talk.goal, read_as);
        if let Some(why) = context::why_no_goal(&goal) {
            let work = StageResult::new(ControllerOutcome::GoalMissing);
            let said = !self.talk.goal.trim().is_empty();
            return Some(if said {
                work.with_event(PlanningEvent::Said { text: why })
            } else {
                work
            });
        }
        self.record_goal();
        if self.talk.context.is_none() {
            let context = self.fresh_context();
            self.record(PlanningEvent::ContextSet { context: Arc::new(context) });
        }
        None
    }

    /// Keeps the goal word for word. What it means is for the model to say.
    fn record_goal(&mut self) {
        let goal = self.talk.goal.trim().to_owned();
        if let Some(before) = self.talk.facts.find_whole(&FactSource::Goal) {
            if before.text.trim() == goal {
                return;
            }
            let by = planwright_model::Actor::Person;
            let gone = FactEvent::Withdrawn { id: before.id, by, replaced_by: None };
            self.record(Event::Fact(gone));
        }
        let fact = Fact::new(self.talk.facts.next_id(), FactSource::Goal, goal);
        self.record(Event::Fact(FactEvent::Recorded { fact }));
    }

    /// The limits from the person's profile and from everything that was said.
    fn fresh_context(&self) -> PlanContext {
        let planner = self.planner;
        let today = planner.local_date(self.now);
        let start = today.tomorrow().unwrap_or(today);
        let mut context = planner.profile.new_context(&self.talk.goal, start, &planner.time_zone);
        if context.find_assumption("start").is_none() {
            context.assumptions.push(Assumption {
                key: "start".to_owned(),
                value: start.to_string(),
                origin: AssumptionOrigin::Template,
                question: None,
            });
        }
        apply_readings(
            &mut context,
            self.talk.facts.active().filter_map(|fact| fact.reading.as_ref()),
        );
        context.pattern = self.talk.pattern.as_ref().map(|choice| choice.pattern.clone());
        context
    }

    /// The limits as what was said gives them now; what is assumed where nothing was said stays as it was.
    pub(super) fn context_from_facts(&self, before: &PlanContext) -> PlanContext {
        let mut context = self.fresh_context();
        AssumedLimits::from_context(before).apply(&mut context, &self.talk.facts);
        context
    }

    /// A kind that the person named, and whatever has to be decided about the kind first.
    pub(super) fn prepare_outline(&mut self) -> Option<StageResult> {
        if self.talk.context.is_none() {
            let context = self.fresh_context();
            self.record(PlanningEvent::ContextSet { context: Arc::new(context) });
        }
        if self.planner.settled_pattern(&self.talk).is_none()
            && self.planner.answered_kind(&self.talk).is_some()
        {
            let choice = self.planner.choose_kind(&self.talk, self.now);
            self.record(PlanningEvent::KindChosen { choice });
        }
        let choice = self.planner.settled_pattern(&self.talk)?;
        self.planner.pattern_gate(&self.talk, choice).map(StageResult::new)
    }

    /// Dates for the draft. The model looks at them unless they are right and not the first.
    pub(super) fn prepare_schedule(&mut self) -> Option<StageResult> {
        if self.talk.outline.is_none() || self.talk.roadmap.is_none() {
            return Some(StageResult::new(ControllerOutcome::MissingPrerequisite));
        }
        let mut plain = self.talk.clone();
        plain.change_requests.clear();
        let made = self.planner.draft_schedule(&plain, self.now);
        if made.outcome != ControllerOutcome::Success {
            return Some(made);
        }
        for event in made.events {
            self.record(event);
        }
        let right = !self.findings(Stage::Schedule).iter().any(is_serious);
        let known = self.talk.draft_number > 1 || self.has_seen_schedule();
        (right && known && self.talk.change_requests.is_empty())
            .then(|| StageResult::new(ControllerOutcome::Success))
    }

    /// Whether the model was shown these very dates.
    fn has_seen_schedule(&self) -> bool {
        let (Some(outline), Some(roadmap), Some(schedule), Some(talk)) = (
            self.talk.outline.as_deref(),
            self.talk.roadmap.as_deref(),
            self.talk.schedule.as_deref(),
            self.talk.conversation.as_deref(),
        ) else {
            return false;
        };
        let shown = describe_schedule(outline, roadmap, schedule);
        talk.finished_calls().any(|(_, _, text)| text.contains(shown.trim_end()))
    }

    pub(super) fn select_pattern(&mut self, arguments: &Value) -> ToolCallEnd {
        if self.talk.kind_chosen {
            return ToolCallEnd::refused(
                "The person said which kind of plan it is; draft it as that kind.",
            );
        }
        let choice = match self.planner.read_pattern_choice(arguments) {
            Ok(choice) => choice,
            Err(why) => return ToolCallEnd::refused(why),
        };
        let limits = match AssumedLimits::from_arguments(arguments) {
            Ok(limits) => limits,
            Err(why) => return ToolCallEnd::refused(why),
        };
        let mut text = format!(
            "Planned as {} / {}.",
            choice.pattern.pattern_type,
            choice.pattern.subtype.as_deref().unwrap_or("none")
        );
        for note in choice.explanations.iter().filter(|note| note.starts_with("unknown_field")) {
            let _ = write!(text, " {note}.");
        }
        self.record(PlanningEvent::PatternPicked { choice: choice.clone() });
        let mut context = self.planner.plan_context(&self.talk, self.now);
        context.pattern = Some(choice.pattern.clone());
        for refused in limits.apply(&mut context, &self.talk.facts) {
            let _ = write!(text, " Not assumed: {refused}.");
        }
        self.record(PlanningEvent::ContextSet { context: Arc::new(context) });
        if let (Some(outline), Some(roadmap)) = (&self.talk.outline, &self.talk.roadmap) {
            let (mut outline, mut roadmap) = (PlanOutline::clone(outline), Roadmap::clone(roadmap));
            outline.pattern = Some(choice.pattern.clone());
            roadmap.pattern = Some(choice.pattern.clone());
            roadmap.context.pattern = Some(choice.pattern.clone());
            roadmap.context.pattern_type = Some(choice.pattern.pattern_type.to_string());
            self.record_draft(outline, roadmap);
        }
        let end = self.planner.pattern_gate(&self.talk, &choice).map(StageResult::new);
        if end.is_some() {
            text.push_str(" The person decides on it first.");
        }
        ToolCallEnd { end, ..ToolCallEnd::done(text) }
    }

    /// The plan to work on; an empty one with the goal before the first operation.
    fn working_draft(&self) -> Result<WorkingDraft, String> {
        let locked = self.talk.locked.clone();
        if let Some(outline) = self.talk.outline.as_deref() {
            let roadmap = self.talk.roadmap.as_deref().cloned();
            let roadmap = roadmap.unwrap_or_else(|| Roadmap::new(outline, Vec::new()));
            return Ok(WorkingDraft { outline: outline.clone(), roadmap, locked });
        }
        let Some(choice) = &self.talk.pattern else {
            return Err("Choose the kind of plan with PatternSelector first.".to_owned());
        };
        let mut context = self.planner.plan_context(&self.talk, self.now);
        context.pattern = Some(choice.pattern.clone());
        Ok(WorkingDraft { locked, ..WorkingDraft::new_for_goal(context) })
    }

    pub(super) fn generate_nodes(&mut self, arguments: &Value) -> ToolCallEnd {
        let operations = arguments.get("operations").and_then(Value::as_array);
        let Some(operations) = operations.filter(|list| !list.is_empty()) else {
            return ToolCallEnd::refused("`operations` is empty.");
        };
        let mut draft = match self.working_draft() {
            Ok(draft) => draft,
            Err(why) => return ToolCallEnd::refused(why),
        };
        let applied = draft.apply_operations(operations);
        self.keep_draft(draft, applied, operations.len())
    }

    pub(super) fn resolve_links(&mut self, arguments: &Value) -> ToolCallEnd {
        let list = |name: &str, op: &str| -> Vec<Value> {
            let items = arguments.get(name).and_then(Value::as_array).into_iter().flatten();
            items
                .map(|item| {
                    let mut item = item.clone();
                    item["op"] = json!(op);
                    item
                })
                .collect()
        };
        let operations = [list("unlink", "unlink"), list("links", "link")].concat();
        self.generate_nodes(&json!({"operations": operations}))
    }

    pub(super) fn build_roadmap(&mut self, arguments: &Value) -> ToolCallEnd {
        let mut draft = match self.working_draft() {
            Ok(draft) if draft.outline.nodes.len() > 1 => draft,
            _ => return ToolCallEnd::refused("There is no plan yet."),
        };
        let before = draft.clone();
        let mut applied = AppliedOperations::default();
        let edits = match roadmap_edits(arguments, &draft.outline) {
            Ok(edits) => edits,
            Err(why) => return ToolCallEnd::refused(why),
        };
        let count = edits.len();
        for edit in edits {
            if let Err(why) = draft.apply_edit(&edit, &mut applied) {
                let nodes: Vec<&str> = edit.named_nodes().into_iter().map(TaskId::as_str).collect();
                applied.refused.push(format!("{}: {why}", nodes.join(", ")));
            }
        }
        if let Some(options) = arguments.get("options").and_then(Value::as_array) {
            match read_options(options, arguments) {
                Ok(options) => draft.roadmap.options_tried = options,
                Err(why) => applied.refused.push(format!("options: {why}")),
            }
        }
        draft.finish_changes(&before);
        self.keep_draft(draft, applied, count)
    }

    /// Records a changed draft, and says what was done and what the rules find.
    fn keep_draft(
        &mut self,
        mut draft: WorkingDraft,
        applied: AppliedOperations,
        count: usize,
    ) -> ToolCallEnd {
        update_derived_fields(&mut draft.roadmap);
        let judged = !self.talk.judgements.is_empty();
        let (from, to) =
            (self.talk.outline.as_deref().map_or(1, |plan| plan.version), draft.outline.version);
        for step in applied.steps.iter().filter(|_| judged) {
            let Some(action) = step.action else { continue };
            let entry = AdaptationLogEntry {
                id: format!("a{}", self.talk.adaptation_log.len() + 1),
                timestamp: self.now,
                node_ids: step.node_ids.clone(),
                action,
                reason: step.reason.clone(),
                origin: NodeOrigin::AiAdaptation,
                strategy_applied: None,
                portfolio_impact: None,
                from_version: from,
                to_version: to,
            };
            self.record(PlanningEvent::Adapted { entry });
        }
        for node in applied.newly_locked {
            self.record(PlanningEvent::NodeLocked { node });
        }
        self.record_draft(draft.outline, draft.roadmap);
        let mut text = format!("{} of {count} applied.", count - applied.refused.len().min(count));
        for refused in &applied.refused {
            let _ = write!(text, "\n- Not applied: {refused}");
        }
        for note in &applied.notes {
            let _ = write!(text, "\n- Note: {note}");
        }
        let stage = self.talk.place.state.drafted_stage().unwrap_or(Stage::Outline);
        let mut found = self.findings(stage.min(Stage::Roadmap));
        // Options are compared last; that they are missing is said when the stage is handed in.
        found.retain(|found| is_serious(found) && found.rule != "G304");
        found.truncate(FINDINGS_SHOWN);
        if !found.is_empty() {
            let _ = write!(text, "\nStill to fix:\n{}", describe_findings(&found));
        }
        ToolCallEnd { ok: applied.refused.is_empty(), text, end: None }
    }

    fn record_draft(&mut self, outline: PlanOutline, roadmap: Roadmap) {
        let by = PlanDrafter::Model(self.client.name());
        let score = |stage| self.talk.self_scores.get(&stage).copied();
        let (outline_score, roadmap_score) = (score(Stage::Outline), score(Stage::Roadmap));
        self.record(PlanningEvent::OutlineDrafted {
            outline: Arc::new(outline),
            by: by.clone(),
            self_score: outline_score,
        });
        self.record(PlanningEvent::RoadmapDrafted {
            roadmap: Arc::new(roadmap),
            by,
            self_score: roadmap_score,
        });
    }

    pub(super) fn generate_schedule(&mut self, arguments: &Value) -> ToolCallEnd {
        let limits = match AssumedLimits::from_arguments(arguments) {
            Ok(limits) => limits,
            Err(why) => return ToolCallEnd::refused(why),
        };
        let mut context = self.planner.plan_context(&self.talk, self.now);
        let before = context.clone();
        let refused = limits.apply(&mut context, &self.talk.facts);
        if context != before {
            self.record(PlanningEvent::ContextSet { context: Arc::new(context) });
        }
        match self.preview_schedule() {
            Ok((schedule, found)) => {
                let mut text = self.schedule_words(&schedule, &found);
                for why in &refused {
                    let _ = writeln!(text, "Not assumed: {why}.");
                }
                ToolCallEnd { ok: refused.is_empty(), text, end: None }
            }
            Err(why) => ToolCallEnd::refused(why),
        }
    }

    /// The schedule of the draft as it is, and what the rules find in it.
    pub(super) fn preview_schedule(&self) -> Result<(Schedule, Vec<Violation>), String> {
        let Some(roadmap) = self.talk.roadmap.as_deref() else {
            return Err("There is no plan yet.".to_owned());
        };
        let mut talk = self.talk.clone();
        let context = self.planner.plan_context(&talk, self.now);
        let today = self.planner.start_today(&context, roadmap, self.now);
        let context = today.unwrap_or(context);
        let made = self.planner.schedule_open_work(&talk, roadmap, &context, self.now);
        let made = made.map_err(|error| format!("No schedule can be made: {error}."))?;
        talk.schedule = Some(Arc::new(made.clone()));
        Ok((made, self.planner.stage_violations(Stage::Schedule, &talk)))
    }

    /// The dates of a schedule.
    pub(super) fn dates_words(&self, schedule: &Schedule) -> String {
        match (&self.talk.outline, &self.talk.roadmap) {
            (Some(outline), Some(roadmap)) => describe_schedule(outline, roadmap, schedule),
            _ => String::new(),
        }
    }

    fn schedule_words(&self, schedule: &Schedule, found: &[Violation]) -> String {
        let mut text = self.dates_words(schedule);
        if found.is_empty() {
            text.push_str("Nothing that was said is broken.\n");
        } else {
            text.push_str(&describe_findings(found));
        }
        text
    }
}

/// Estimates, owners and what the plan rests on, as edits.
fn roadmap_edits(arguments: &Value, outline: &PlanOutline) -> Result<Vec<PlanEdit>, String> {
    let items = |name: &str| arguments.get(name).and_then(Value::as_array).into_iter().flatten();
    let id =
        |item: &Value| TaskId::from(item.get("id").and_then(Value::as_str).unwrap_or_default());
    let mut edits = Vec::new();
    for item in items("estimates") {
        let minutes = item.get("minutes").and_then(Value::as_u64);
        let minutes = minutes.and_then(|minutes| u32::try_from(minutes).ok());
        let minutes = minutes.ok_or_else(|| format!("{}: `minutes` is missing", id(item)))?;
        edits.push(PlanEdit::SetEstimate { node: id(item), minutes });
    }
    for item in items("owners") {
        let owner = item.get("owner").and_then(Value::as_str).unwrap_or_default().to_owned();
        edits.push(PlanEdit::Assign { node: id(item), owner });
    }
    let list = |name: &str| -> Option<Vec<String>> {
        let items = arguments.get(name)?.as_array()?;
        Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let fields = NodeFields {
        risks: list("risks"),
        assumptions: list("assumptions"),
        why: arguments.get("rationale").and_then(Value::as_str).map(str::to_owned),
        ..NodeFields::default()
    };
    if fields != NodeFields::default() {
        edits.push(PlanEdit::Change { node: outline.root_id.clone(), fields });
    }
    Ok(edits)
}

fn read_options(options: &[Value], arguments: &Value) -> Result<Vec<RoadmapOption>, String> {
    let text = |option: &Value, name: &str| {
        let text = option.get(name).and_then(Value::as_str).unwrap_or_default();
        planwright_text::clean_line(text.trim()).into_owned()
    };
    let rationale = text(arguments, "rationale");
    let read = (1..).zip(options).map(|(number, option)| {
        let chosen = option.get("chosen").and_then(Value::as_bool).unwrap_or(false);
        let own = text(option, "rationale");
        let hours = option.get("effort_hours").and_then(Value::as_f64).unwrap_or(0.0);
        RoadmapOption {
            id: format!("option{number}"),
            label: text(option, "label"),
            summary: text(option, "summary"),
            tasks: text(option, "tasks"),
            effort_minutes: (hours.clamp(0.0, 100_000.0) * 60.0).round() as u32,
            span_weeks: option
                .get("span_weeks")
                .and_then(Value::as_u64)
                .and_then(|weeks| u16::try_from(weeks).ok())
                .unwrap_or(1),
            risk: match text(option, "risk").as_str() {
                "low" => Risk::Low,
                "high" => Risk::High,
                _ => Risk::Medium,
            },
            score: if chosen { 1.0 } else { 0.5 },
            chosen,
            rationale: if own.is_empty() && chosen { rationale.clone() } else { own },
        }
    });
    let read: Vec<RoadmapOption> = read.collect();
    let chosen = read.iter().filter(|option| option.chosen).count();
    if !(2..=3).contains(&read.len()) || chosen != 1 {
        return Err("give two or three, exactly one of them chosen".to_owned());
    }
    Ok(read)
}
