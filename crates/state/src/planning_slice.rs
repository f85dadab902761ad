//! The planning conversation: a fold that holds the current artifacts, the place in the controller, and the change requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::agent_conversation::{AgentConversation, ConversationEntry};
use super::draft_history::{DraftSnapshot, NodeHistoryEntry, UndoDraft};
use super::fact_slice::FactSlice;
use super::schedule_undo::{CatchUpUndo, MOVED_BY_HAND, MOVED_FOR_OTHER_PLAN};
use planwright_model::agent_conversation::{PromptSource, RequestReport, TURN_PURPOSE};
use planwright_model::catch_up::{OpenWork, TaskOccurrence};
use planwright_model::event::{AgentEvent, PlanSketch, PlanningEvent, RevisedDraft};
use planwright_model::{
    AdaptationLogEntry, ApprovalTarget, AssumptionOrigin, Autonomy, Comment, EscalationReason,
    FactReading, InteractionPolicy, PatternChoice, PauseKind, PlanContext, PlanCounters,
    PlanDrafter, PlanEffect, PlanLimits, PlanOutline, PlanQuestion, PlanState, PlanningPosition,
    PlanningToolName, PolicyOverride, Roadmap, RunCap, Schedule, Stage, StageAssessment,
    StrategyMode, TaskId, Violation,
};
use planwright_plan::confidence::{
    ConfidenceEvidence, ConfidenceSentence, DraftAuthor, describe_confidence,
};
use planwright_plan::grammar::BROKEN_FACT_RULE;

/// How many log entries and traces of planning the state keeps; the journal has all of them.
const MAX_KEPT_ENTRIES: usize = 64;
/// How much of a change request names the change it led to.
const MAX_CHANGE_TITLE_CHARS: usize = 96;

/// A planning conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanningSlice {
    /// Set once a conversation began; a session made from a plan file has none.
    pub begun: bool,
    pub goal: String,
    pub thread_id: String,
    pub drafter: PlanDrafter,
    pub offline: bool,
    pub limits: PlanLimits,
    pub place: PlanningPosition,
    /// Where a pause leads back to.
    pub resume: Option<PlanningPosition>,
    pub reason: Option<EscalationReason>,
    pub counters: PlanCounters,
    /// What the person set, flags and stored defaults included.
    pub policy_set: PolicyOverride,
    pub context: Option<Arc<PlanContext>>,
    pub questions: Vec<PlanQuestion>,
    /// Keys that the person left to us; they are not asked again.
    pub skipped_questions: BTreeSet<String>,
    pub answers: BTreeMap<String, String>,
    /// What was said, and what was understood of it.
    pub facts: FactSlice,
    pub pattern: Option<PatternChoice>,
    /// Whether the person said what kind of plan it is.
    pub kind_chosen: bool,
    pub pattern_rfc_required: bool,
    pub pattern_rfc_text: Option<String>,
    /// What would be drafted without an answer to the questions, while there is no draft.
    #[serde(default)]
    pub sketch: Option<Arc<PlanSketch>>,
    pub outline: Option<Arc<PlanOutline>>,
    /// The outline as the person saw it last, for the diff.
    pub shown_outline: Option<Arc<PlanOutline>>,
    pub roadmap: Option<Arc<Roadmap>>,
    pub shown_roadmap: Option<Arc<Roadmap>>,
    pub schedule: Option<Arc<Schedule>>,
    /// The number of the present draft: 1 for the first, one more for each that the person asked for.
    pub draft_number: u32,
    /// The draft that the person saw before this one, and that this one is compared with.
    pub compared: Option<Arc<DraftSnapshot>>,
    /// Rows whose change was put back to what it was in the draft before.
    pub put_back: BTreeSet<TaskId>,
    /// The draft with every change, where some are put back.
    pub all_changes: Option<Arc<DraftSnapshot>>,
    pub judgements: BTreeMap<Stage, StageAssessment>,
    pub self_scores: BTreeMap<Stage, f64>,
    pub approved: BTreeSet<ApprovalTarget>,
    pub picked_option: Option<String>,
    pub excluded_options: Vec<String>,
    pub accepted_late: bool,
    pub low_confidence: bool,
    /// What the scout gate decided last.
    pub gate: Option<planwright_model::gate::GateDecision>,
    /// The scout gate found the goal small, and the person had set no policy.
    pub small_goal: bool,
    /// What kept the last draft from being usable.
    pub trouble: Option<String>,
    /// The limit on money that the trouble is about.
    pub trouble_cap: Option<RunCap>,
    /// The trouble that was there last, also after something else took over.
    pub last_trouble: Option<String>,
    /// What the next draft must change.
    #[serde(rename = "wishes")]
    pub change_requests: Vec<ChangeRequest>,
    /// Change requests that no draft could read.
    #[serde(rename = "open_wishes")]
    pub open_changes: Vec<String>,
    pub comments: Vec<Comment>,
    pub locked: BTreeSet<TaskId>,
    /// What edits by hand and revisions can go back to, and forward again.
    pub undo: Vec<UndoDraft>,
    pub redo: Vec<UndoDraft>,
    pub adaptation_log: Vec<AdaptationLogEntry>,
    /// Work that is done or skipped; what is planned from now on leaves it as it is.
    pub frozen: FrozenWork,
    /// What undoing the last catch-up goes back to.
    pub catch_up: Option<CatchUpUndo>,
    /// The same for what was caught up or moved before that, the oldest first.
    #[serde(default)]
    pub earlier_schedules: Vec<CatchUpUndo>,
    /// How the plan stood to the person's other plans when that was looked at last.
    #[serde(default)]
    pub overlaps: Option<Arc<planwright_model::OverlapReport>>,
    /// Blocks of other plans, by session and block, that move when this plan is approved.
    #[serde(default)]
    pub freed_blocks: BTreeSet<String>,
    /// Whether the next schedule is one from before.
    #[serde(default)]
    pub schedule_goes_back: bool,
    /// Where the conversation stood when the plan was discarded.
    pub discarded: Option<DiscardedPlace>,
    /// Who changed which node when.
    pub history: Vec<NodeHistoryEntry>,
    pub ideas: Vec<String>,
    /// Ideas that the person took into the plan.
    pub taken_ideas: Vec<String>,
    pub brainstormed: bool,
    /// The next message asks how much the person likes to read.
    pub asks_style: bool,
    pub response_text: String,
    /// What the goal says that could not be used, and what the kind of plan warns of.
    pub notes: Vec<String>,
    pub traces: u32,
    /// What the steps that were traced cost, in micro-dollars.
    #[serde(default)]
    pub traced_cost: u64,
    pub logged: u32,
    /// When the person last spoke.
    pub segment_began: Option<Timestamp>,
    /// When something last happened that the person could see.
    pub last_visible: Option<Timestamp>,
    /// When something was last drafted or judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafted_at: Option<Timestamp>,
    /// The conversation with the model, where it plans in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Arc<AgentConversation>>,
    /// The state whose stage is open in the conversation; none once the controller has moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_stage: Option<PlanState>,
    /// What became of the change requests of the last draft.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<RequestReport>,
}

/// Where a conversation goes back to when its plan is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscardedPlace {
    pub place: PlanningPosition,
    pub resume: Option<PlanningPosition>,
}

/// Work that no later draft touches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrozenWork {
    pub tasks: BTreeSet<TaskId>,
    /// Times of repeating tasks.
    pub times: BTreeSet<TaskOccurrence>,
}

impl FrozenWork {
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.times.is_empty()
    }

    /// The same for a scheduler, with nothing late.
    pub fn to_open_work(&self) -> OpenWork {
        OpenWork {
            settled_tasks: self.tasks.clone(),
            settled_times: self.times.clone(),
            ..OpenWork::default()
        }
    }
}

/// A change that the person asked for and that no draft has met yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRequest {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<TaskId>,
}

impl PlanningSlice {
    /// How the person wants to be talked to and asked.
    pub fn interaction_policy(&self) -> InteractionPolicy {
        InteractionPolicy::default().with_overrides(&self.policy_set)
    }

    /// Whether nothing of the plan moves for another plan without its own yes: little autonomy, or a strategy that leaves
    /// changes to the person.
    pub fn asks_before_moves(&self) -> bool {
        let profile = self.context.as_deref().map(|context| &context.strategy_profile);
        profile.is_some_and(|profile| profile.mode == StrategyMode::Manual)
            || self.interaction_policy().autonomy == Autonomy::Low
    }

    /// Whether the agent has something to do without the person.
    pub fn is_working(&self) -> bool {
        self.begun && self.place.state.is_working()
    }

    /// Whether a model reads every word of the person's in its conversation, so that nothing else does.
    pub fn is_read_by_model(&self) -> bool {
        self.conversation.is_some() && !self.offline
    }

    /// How sure the draft is, as one sentence.
    pub fn confidence_sentence(&self) -> Option<ConfidenceSentence> {
        describe_confidence(&ConfidenceEvidence {
            pattern: self.pattern.as_ref(),
            kind_confirmed: self.kind_chosen,
            drafted_by: if self.offline || self.drafter.is_offline() {
                DraftAuthor::BuiltInPlanner
            } else if self.conversation.is_some() {
                DraftAuthor::LargeModel
            } else {
                DraftAuthor::SmallModel
            },
            is_day_assumed: self.is_day_assumed(),
            assessments: &self.judgements,
        })
    }

    /// Whether the built-in planner chose the day that the dates count from, and nothing that was said limits it.
    fn is_day_assumed(&self) -> bool {
        let context = self.outline.as_deref().map(|outline| &outline.plan_context);
        let day = context.and_then(|context| context.find_assumption("day"));
        let limits = |reading: &FactReading| {
            matches!(
                reading,
                FactReading::Deadline { .. }
                    | FactReading::FixedDate { .. }
                    | FactReading::Window { .. }
                    | FactReading::Duration { .. }
            )
        };
        let stated = self.facts.active().any(|fact| fact.reading.as_ref().is_some_and(limits));
        day.is_some_and(|day| day.origin == AssumptionOrigin::Template) && !stated
    }

    /// What the plan breaks of what was said, as it was last checked.
    pub fn broken_facts(&self) -> impl Iterator<Item = &Violation> {
        let found = self.judgements.get(&Stage::Schedule).map(|found| found.violations.as_slice());
        found.unwrap_or_default().iter().filter(|found| found.rule == BROKEN_FACT_RULE)
    }

    /// What the drafter says that the whole plan rests on.
    pub fn plan_assumptions(&self) -> &[String] {
        let nodes = match (self.roadmap.as_deref(), self.outline.as_deref()) {
            (Some(roadmap), _) => Some((&roadmap.root_id, &roadmap.nodes)),
            (None, Some(outline)) => Some((&outline.root_id, &outline.nodes)),
            (None, None) => None,
        };
        let root = nodes.and_then(|(id, nodes)| nodes.iter().find(|node| node.id == *id));
        root.map(|root| root.assumptions.as_slice()).unwrap_or_default()
    }

    /// Whether the conversation is over.
    pub fn is_over(&self) -> bool {
        matches!(self.place.state, PlanState::Complete | PlanState::Aborted)
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &PlanningEvent, at: Timestamp) -> bool {
        if !matches!(event, PlanningEvent::Traced { .. } | PlanningEvent::Logged { .. }) {
            self.last_visible = Some(at);
        }
        if is_drafting(event) {
            self.drafted_at = Some(at);
        }
        self.record_history(event, at);
        match event {
            PlanningEvent::Began { goal, thread_id, policy, limits, drafter } => {
                let first = !self.begun;
                self.begun = true;
                self.goal.clone_from(goal);
                self.thread_id.clone_from(thread_id);
                self.policy_set = policy.clone();
                self.limits = *limits;
                self.drafter.clone_from(drafter);
                self.offline = drafter.is_offline();
                self.segment_began = Some(at);
                self.counters.turns = 1;
                return first;
            }
            PlanningEvent::GoalSet { goal } => {
                self.goal.clone_from(goal);
                self.context = None;
                self.undo.clear();
                self.redo.clear();
                self.settle_draft();
            }
            PlanningEvent::Restated { goal, what } => {
                self.begin_next_draft(what);
                self.goal.clone_from(goal);
                self.facts.set_goal(goal);
                self.context = None;
            }
            PlanningEvent::GoalReworded { goal } => {
                self.goal.clone_from(goal);
                self.facts.set_goal(goal);
            }
            PlanningEvent::Moved { from, to, effects, resume, reason, .. } => {
                return self.apply_move(*from, *to, effects, *resume, reason.as_ref(), at);
            }
            PlanningEvent::ContextSet { context } => {
                self.context = Some(context.clone());
                if let Some(outline) = &mut self.outline {
                    Arc::make_mut(outline).plan_context = PlanContext::clone(context);
                }
            }
            PlanningEvent::QuestionsFound { questions, sketch } => {
                self.questions.clone_from(questions);
                self.sketch.clone_from(sketch);
            }
            PlanningEvent::QuestionsAnswered { answers } => {
                for (key, answer) in answers {
                    if answer.trim().is_empty() {
                        self.answers.remove(key);
                        self.skipped_questions.insert(key.clone());
                    } else {
                        self.skipped_questions.remove(key);
                        self.answers.insert(key.clone(), answer.clone());
                    }
                }
                self.questions.retain(|question| !answers.contains_key(&question.key));
            }
            PlanningEvent::PatternPicked { choice } => {
                let proposed =
                    choice.pattern.proposed_name().is_some() || choice.proposed_pattern.is_some();
                self.pattern_rfc_required = proposed;
                self.pattern_rfc_text = choice.pattern.rfc.clone().filter(|_| proposed);
                self.pattern = Some(choice.clone());
            }
            PlanningEvent::KindChosen { choice } => {
                self.kind_chosen = true;
                self.pattern = Some(choice.clone());
            }
            PlanningEvent::IdeaTaken { idea } => self.taken_ideas.push(idea.clone()),
            PlanningEvent::Restored { .. } => {
                let Some(before) = self.discarded.take() else { return false };
                self.place = before.place;
                self.resume = before.resume;
            }
            PlanningEvent::OutlineDrafted { outline, self_score, .. } => {
                self.set_self_score(Stage::Outline, *self_score);
                self.draft_number = self.draft_number.max(1);
                self.outline = Some(outline.clone());
                self.sketch = None;
                self.context = Some(Arc::new(outline.plan_context.clone()));
            }
            PlanningEvent::RoadmapDrafted { roadmap, self_score, .. } => {
                self.set_self_score(Stage::Roadmap, *self_score);
                self.roadmap = Some(roadmap.clone());
            }
            PlanningEvent::ScheduleDrafted { schedule, .. } => {
                self.schedule = Some(schedule.clone());
                self.follow_schedule();
            }
            PlanningEvent::WorkFrozen { tasks, times } => {
                self.frozen.tasks = tasks.iter().cloned().collect();
                self.frozen.times = times.iter().cloned().collect();
            }
            PlanningEvent::OverlapsFound { report } => {
                self.overlaps = Some(Arc::new((**report).clone()));
            }
            PlanningEvent::OtherBlocksFreed { blocks } => {
                self.freed_blocks.extend(blocks.iter().cloned());
            }
            PlanningEvent::CaughtUp { skipped, .. } => self.keep_schedule(skipped.clone()),
            PlanningEvent::CatchUpUndone {} => {
                let Some(undone) = self.catch_up.take() else { return false };
                self.catch_up = self.earlier_schedules.pop();
                self.schedule_goes_back = undone.schedule.is_some();
            }
            PlanningEvent::Judged { stage, judgement } => {
                self.judgements.insert(*stage, judgement.clone());
            }
            PlanningEvent::Traced { step } => {
                self.traces += 1;
                self.traced_cost = self.traced_cost.saturating_add(step.cost_delta);
                if step.tool == PlanningToolName::ContextElicitor {
                    self.notes.clone_from(&step.explanations);
                }
            }
            PlanningEvent::Logged { .. } => self.logged += 1,
            PlanningEvent::Adapted { entry } => {
                let moved = [MOVED_BY_HAND, MOVED_FOR_OTHER_PLAN];
                if entry.strategy_applied.as_deref().is_some_and(|how| moved.contains(&how)) {
                    self.keep_schedule(Vec::new());
                }
                push_bounded(&mut self.adaptation_log, entry.clone());
            }
            PlanningEvent::ChangesRequested { text, nodes } => {
                self.reports.clear();
                self.begin_next_draft(&format!("\"{}\"", change_title(text)));
                self.change_requests
                    .push(ChangeRequest { text: text.clone(), nodes: nodes.clone() });
            }
            PlanningEvent::WishesMet { open, .. } => {
                self.change_requests.clear();
                self.open_changes.clone_from(open);
            }
            PlanningEvent::OptionPicked { option } => {
                self.begin_next_draft(&format!("option {option}"));
                self.picked_option = Some(option.clone());
            }
            PlanningEvent::OptionsExcluded { options } => {
                self.begin_next_draft("another draft in place of what was turned down");
                self.picked_option = None;
                self.excluded_options.extend(options.iter().cloned());
            }
            PlanningEvent::Relaxed { summary, by: Some(_) } => {
                self.begin_next_draft(&change_title(summary));
            }
            PlanningEvent::Relaxed { by: None, .. }
            | PlanningEvent::Remarked { .. }
            | PlanningEvent::RequestRead { .. } => {}
            PlanningEvent::AcceptedLate { .. } => self.accepted_late = true,
            PlanningEvent::Commented { comment } => self.keep_comment(comment),
            PlanningEvent::CommentSettled { id, outcome } => {
                let Some(comment) = self.comments.iter_mut().find(|comment| comment.id == *id)
                else {
                    return false;
                };
                comment.outcome = Some(outcome.clone());
            }
            PlanningEvent::NodeLocked { node } => return self.keep_lock(node, true),
            PlanningEvent::NodeUnlocked { node } => return self.keep_lock(node, false),
            PlanningEvent::PolicySet { set, .. } => {
                self.policy_set = self.policy_set.merged_with(set);
            }
            PlanningEvent::Said { text } => self.response_text.clone_from(text),
            PlanningEvent::StyleUnknown {} => self.asks_style = true,
            PlanningEvent::StyleAsked {} => self.asks_style = false,
            PlanningEvent::IdeasOffered { ideas } => {
                self.ideas.clone_from(ideas);
                self.brainstormed = true;
            }
            PlanningEvent::Troubled { what, cap } => {
                self.trouble_cap = *cap;
                self.trouble = Some(what.clone());
                self.last_trouble = Some(what.clone());
            }
            PlanningEvent::DrafterSet { drafter } => {
                self.drafter.clone_from(drafter);
                self.offline = drafter.is_offline();
            }
            PlanningEvent::WentOffline { .. } => self.offline = true,
            PlanningEvent::Edited { edit, outline, roadmap } => {
                let nodes: Vec<&str> =
                    edit.affected_nodes().into_iter().map(TaskId::as_str).collect();
                let what = format!("edit of {}", nodes.join(", "));
                let draft = RevisedDraft { outline: outline.clone(), roadmap: roadmap.clone() };
                self.adopt_revision(what.trim_end_matches(" of "), &draft);
            }
            PlanningEvent::Revised { edits, what, draft, all_changes } => {
                self.apply_operations(edits, what, draft.as_ref(), all_changes.as_ref());
            }
            PlanningEvent::ChangePutBack { put_back, what, draft, .. } => {
                self.apply_put_back(put_back, what, draft);
            }
            PlanningEvent::Undone { again } => {
                // What was reported about requests is about the draft that is gone.
                self.reports.clear();
                return self.apply_undo(*again);
            }
            PlanningEvent::RequestsReported { reports } => self.reports.clone_from(reports),
            PlanningEvent::ConversationOpened { opening } => {
                self.conversation = Some(Arc::new(AgentConversation::new((**opening).clone())));
            }
            PlanningEvent::StageOpened { .. }
            | PlanningEvent::Prompted { .. }
            | PlanningEvent::ToolAnswered { .. }
            | PlanningEvent::ConversationSummarized { .. }
            | PlanningEvent::ResultsCompacted { .. } => return self.append_message(event),
        }
        true
    }

    /// Appends to the conversation with the model.
    fn append_message(&mut self, event: &PlanningEvent) -> bool {
        let Some(talk) = self.conversation.as_mut().map(Arc::make_mut) else { return false };
        match event {
            PlanningEvent::StageOpened { state, text, tools } => {
                self.open_stage = Some(*state);
                talk.opening.tools.clone_from(tools);
                let (source, text) = (PromptSource::Stage, text.clone());
                talk.entries.push(ConversationEntry::Prompt { source, text });
            }
            PlanningEvent::Prompted { source, text } => {
                let (source, text) = (*source, text.clone());
                talk.entries.push(ConversationEntry::Prompt { source, text });
            }
            PlanningEvent::ToolAnswered { call, tool, ok, text } => {
                return talk.append_result(*call, tool, *ok, text);
            }
            PlanningEvent::ConversationSummarized { entries, text } => {
                return talk.summarize(*entries, text);
            }
            PlanningEvent::ResultsCompacted { through } => {
                talk.compacted_through = talk.compacted_through.max(*through);
            }
            _ => return false,
        }
        true
    }

    /// Folds what a model was asked and answered while planning: turns of the conversation, if there is one.
    pub fn apply_model_event(&mut self, event: &AgentEvent) {
        let Some(shared) = self.conversation.as_mut() else { return };
        match event {
            AgentEvent::ModelAsked { task: None, ask, purpose, .. } if purpose == TURN_PURPOSE => {
                Arc::make_mut(shared).awaited = Some(*ask);
            }
            AgentEvent::ModelAnswered {
                task: None,
                ask,
                text,
                calls,
                reasoning,
                cut_off,
                fault,
                ..
            } if shared.awaited == Some(*ask) => {
                let talk = Arc::make_mut(shared);
                talk.awaited = None;
                let calls = calls.as_deref().unwrap_or_default();
                let last = talk.last_call();
                talk.append_turn((text, reasoning), calls, (*cut_off, fault.as_deref()), last);
            }
            AgentEvent::ModelFailed { task: None, ask, .. } if shared.awaited == Some(*ask) => {
                Arc::make_mut(shared).awaited = None;
            }
            _ => {}
        }
    }

    fn set_self_score(&mut self, stage: Stage, score: Option<f64>) {
        match score {
            Some(score) => self.self_scores.insert(stage, score),
            None => self.self_scores.remove(&stage),
        };
    }

    fn apply_move(
        &mut self,
        from: PlanningPosition,
        to: PlanningPosition,
        effects: &[PlanEffect],
        resume: Option<PlanningPosition>,
        reason: Option<&EscalationReason>,
        at: Timestamp,
    ) -> bool {
        let expected = self.place == from;
        self.open_stage = None;
        if to.state == PlanState::SeekApproval {
            self.shown_outline.clone_from(&self.outline);
            self.shown_roadmap.clone_from(&self.roadmap);
        }
        if to.state.is_working() {
            self.trouble = None;
            self.trouble_cap = None;
        }
        if to.state == PlanState::Aborted {
            self.discarded = Some(DiscardedPlace { place: from, resume: self.resume });
        }
        self.place = to;
        self.resume = resume;
        if reason.is_some() || from != to {
            self.reason = reason.cloned();
        }
        for effect in effects {
            self.apply_effect(*effect, at);
        }
        if to.state.costs_turn() {
            self.counters.turns += 1;
        }
        expected
    }

    fn apply_effect(&mut self, effect: PlanEffect, at: Timestamp) {
        let counters = &mut self.counters;
        match effect {
            PlanEffect::Retry(stage) => *counters.retries.entry(stage).or_default() += 1,
            PlanEffect::ClearRetries(stage) => counters.retries.retain(|kept, _| *kept < stage),
            PlanEffect::ClearApprovals(stage) => {
                self.approved.retain(|target| target_stage(*target) < Some(stage));
            }
            PlanEffect::Approve(target) => {
                match target {
                    ApprovalTarget::Final => self.approved.extend(ApprovalTarget::ALL),
                    target => self.approved.extend([target]),
                }
                self.settle_draft();
            }
            PlanEffect::ClarifyRound => counters.clarify_rounds += 1,
            PlanEffect::CollectAgain => counters.collected_again = true,
            PlanEffect::Revision => counters.revisions += 1,
            PlanEffect::Escalation => counters.escalations += 1,
            PlanEffect::Continue => counters.continues += 1,
            PlanEffect::Unparsed => counters.unparsed += 1,
            PlanEffect::AutoRelax => counters.auto_relaxed += 1,
            PlanEffect::Offline => self.offline = true,
            PlanEffect::NewSegment => {
                counters.turns = 0;
                counters.collected_again = false;
                counters.unparsed = 0;
                self.segment_began = Some(at);
            }
            PlanEffect::ResetLimits => {
                counters.revisions = 0;
                counters.escalations = 0;
                counters.continues = 0;
            }
            PlanEffect::FlagLowConfidence => self.low_confidence = true,
        }
    }

    /// Whether it waits for this kind of answer.
    pub fn is_waiting_for(&self, pause: PauseKind) -> bool {
        self.place.pause == Some(pause)
    }
}

/// The stage after which a target is approved; a pattern comes before all of them.
fn target_stage(target: ApprovalTarget) -> Option<Stage> {
    match target {
        ApprovalTarget::Pattern => None,
        ApprovalTarget::Outline => Some(Stage::Outline),
        ApprovalTarget::Roadmap => Some(Stage::Roadmap),
        ApprovalTarget::Final => Some(Stage::Schedule),
    }
}

/// Whether an event makes a draft or judges one.
fn is_drafting(event: &PlanningEvent) -> bool {
    matches!(
        event,
        PlanningEvent::OutlineDrafted { .. }
            | PlanningEvent::RoadmapDrafted { .. }
            | PlanningEvent::ScheduleDrafted { .. }
            | PlanningEvent::Judged { .. }
    )
}

/// The beginning of a text that names a change.
fn change_title(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(MAX_CHANGE_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn push_bounded<T>(list: &mut Vec<T>, entry: T) {
    if list.len() >= MAX_KEPT_ENTRIES {
        list.remove(0);
    }
    list.push(entry);
}
