//! What a person reads of planning and of agents at work.

use super::planning_steps::planning_step_text;
use super::{EntryProjection, TraceEntryKind};
use crate::task_words::describe_action;
use planwright_model::agent_conversation::{PromptSource, RequestReport};
use planwright_model::agent_decision::{
    AgentDecision, ExecutorAction, ExecutorDecision, PlannerAction, PlannerDecision, TaskDecision,
    TaskGateDecision,
};
use planwright_model::catch_up::CatchUpWay;
use planwright_model::event::{AgentEvent, ApprovalEvent, Event, FactEvent, PlanningEvent};
use planwright_model::permission::GrantBasis;
use planwright_model::requests::describe_question_key;
use planwright_model::{
    AgentSession, AgentTodo, AgentTodoStatus, CommentOutcome, PlanState, PlanningPosition,
    PrdvPhase, ReActStep, TaskId,
};
use planwright_text::units::{format_counted, format_elapsed};

/// The kind of step an event of planning or of an agent is by its wire name; `None` for those that only keep ledger.
pub(super) fn kind_from_wire_name(kind: &str) -> Option<TraceEntryKind> {
    Some(match kind {
        "planning.traced"
        | "planning.logged"
        | "planning.questions_found"
        | "planning.context_set"
        | "planning.work_frozen"
        | "agent.model_asked"
        | "agent.model_waiting"
        | "agent.model_answered"
        | "agent.conversation_opened"
        | "agent.handed_in"
        | "agent.usage_reported"
        | "agent.state_saved" => return None,
        "agent.session_opened" => TraceEntryKind::Started,
        "planning.troubled" | "agent.model_failed" => TraceEntryKind::Failed,
        "planning.said"
        | "planning.ideas_offered"
        | "agent.partial"
        | "agent.model_delayed"
        | "agent.protocol_demoted"
        | "agent.thought"
        | "agent.decided"
        | "agent.prompted"
        | "agent.todo_listed"
        | "agent.results_compacted"
        | "agent.gated" => TraceEntryKind::Thought,
        "planning.questions_answered"
        | "planning.goal_set"
        | "planning.restated"
        | "planning.changes_requested"
        | "planning.option_picked"
        | "planning.options_excluded"
        | "planning.accepted_late"
        | "planning.commented"
        | "planning.node_locked"
        | "planning.node_unlocked"
        | "planning.policy_set"
        | "planning.edited"
        | "planning.revised"
        | "planning.change_put_back"
        | "planning.request_read"
        | "planning.undone"
        | "planning.idea_taken"
        | "planning.kind_chosen"
        | "planning.restored"
        | "planning.caught_up"
        | "planning.catch_up_undone"
        | "agent.granted"
        | "agent.message_sent"
        | "agent.budget_renewed"
        | "agent.candidate_picked"
        | "agent.revoked" => TraceEntryKind::Answered,
        "agent.acted" | "planning.tool_answered" => TraceEntryKind::Action,
        "agent.observed" | "agent.concluded" | "agent.child_moved" => TraceEntryKind::Observed,
        other if other.starts_with("planning.") => TraceEntryKind::Plan,
        _ => TraceEntryKind::Unknown,
    })
}

/// What became of something that was said. That it was said is a step of its own.
pub(super) fn project_fact(event: &FactEvent) -> Option<EntryProjection> {
    let text = match event {
        FactEvent::Recorded { .. } => return None,
        FactEvent::Corrected { id, text, .. } => format!("fact {id} is now \"{text}\""),
        FactEvent::Withdrawn { id, replaced_by: None, .. } => format!("fact {id} was withdrawn"),
        FactEvent::Withdrawn { id, replaced_by: Some(later), .. } => {
            format!("fact {later} replaces fact {id}")
        }
    };
    Some((TraceEntryKind::Answered, text, None))
}

/// The rows that the line of an event names by their ids.
pub(super) fn named_rows(event: &Event) -> Vec<TaskId> {
    let event = match event {
        Event::Planning(event) => event,
        Event::Approval(ApprovalEvent::Refused { why, .. }) => {
            return why.named_task().into_iter().cloned().collect();
        }
        _ => return Vec::new(),
    };
    match event {
        PlanningEvent::ChangesRequested { nodes, .. } => nodes.clone(),
        PlanningEvent::Commented { comment } => vec![comment.node.clone()],
        PlanningEvent::NodeLocked { node } | PlanningEvent::NodeUnlocked { node } => {
            vec![node.clone()]
        }
        PlanningEvent::Edited { edit, .. } => edit.affected_nodes().into_iter().cloned().collect(),
        _ => Vec::new(),
    }
}

pub(super) fn project_planning(event: &PlanningEvent) -> Option<EntryProjection> {
    let kind = kind_from_wire_name(event.kind())?;
    let mut body = None;
    let text = match event {
        PlanningEvent::Began { goal, drafter, .. } => {
            format!("planning \"{goal}\", drafted by {}", drafter.describe())
        }
        PlanningEvent::Restated { what, .. } => format!("planning again {what}"),
        PlanningEvent::GoalSet { goal } => format!("the goal is \"{goal}\""),
        PlanningEvent::GoalReworded { goal } => format!("the goal is now \"{goal}\""),
        PlanningEvent::Moved { to, why, .. } => {
            body = Some(why.join("\n")).filter(|why| !why.is_empty());
            position_text(*to)
        }
        PlanningEvent::QuestionsAnswered { answers } => {
            let said: Vec<String> = answers
                .iter()
                .map(|(key, answer)| {
                    let answer = if answer.is_empty() { "skipped" } else { answer };
                    format!("{}: {answer}", describe_question_key(key))
                })
                .collect();
            said.join(", ")
        }
        PlanningEvent::PatternPicked { choice } => {
            body = Some(choice.explanations.join("\n")).filter(|words| !words.is_empty());
            format!("kind of plan: {}", choice.pattern.kind_noun())
        }
        PlanningEvent::OutlineDrafted { outline, by, .. } => {
            let nodes = format_counted(outline.nodes.len(), "row");
            format!("outline {} with {nodes} by {}", outline.version, by.describe())
        }
        PlanningEvent::RoadmapDrafted { roadmap, by, .. } => format!(
            "estimates: {} of work, {} by {}",
            planwright_text::units::format_planned(roadmap.total_minutes.into()),
            format_counted(roadmap.dependencies.len(), "link"),
            by.describe()
        ),
        PlanningEvent::ScheduleDrafted { schedule, by } => {
            let blocks = format_counted(schedule.blocks.len(), "block");
            format!("schedule with {blocks} by {}", by.describe())
        }
        PlanningEvent::Judged { stage, judgement } => {
            let lines: Vec<String> = judgement
                .violations
                .iter()
                .map(|found| format!("{} ({})", found.message, found.rule))
                .collect();
            body = Some(lines.join("\n")).filter(|lines| !lines.is_empty());
            match judgement.violations.len() {
                0 => format!("{} checked", stage.as_str()),
                1 => format!("{} checked, 1 finding", stage.as_str()),
                count => format!("{} checked, {count} findings", stage.as_str()),
            }
        }
        PlanningEvent::Adapted { entry } => format!("changed: {}", entry.reason),
        PlanningEvent::ChangesRequested { text, nodes } => {
            if nodes.is_empty() {
                format!("changes requested: {text}")
            } else {
                let ids: Vec<&str> =
                    nodes.iter().map(planwright_model::ids::TaskId::as_str).collect();
                format!("changes requested for {}: {text}", ids.join(", "))
            }
        }
        PlanningEvent::WishesMet { met, open } => {
            body = Some(
                met.iter()
                    .map(|change| format!("made: {change}"))
                    .chain(open.iter().map(|change| format!("left open: {change}")))
                    .collect::<Vec<_>>()
                    .join("\n"),
            );
            match (met.len(), open.len()) {
                (_, 0) => "changes made".to_owned(),
                (0, _) => format!("left open: {}", open.join("; ")),
                (count, _) => {
                    let made = format_counted(count, "change");
                    format!("{made} made, left open: {}", open.join("; "))
                }
            }
        }
        PlanningEvent::OptionPicked { option } => format!("option {option} picked"),
        PlanningEvent::OptionsExcluded { options } => {
            format!("turned down: {}", options.join(", "))
        }
        PlanningEvent::Relaxed { summary, by: Some(_) } => {
            format!("changed by you to fit: {summary}")
        }
        PlanningEvent::Relaxed { summary, by: None } => format!("changed to fit: {summary}"),
        PlanningEvent::AcceptedLate { .. } => "a late finish is accepted".to_owned(),
        PlanningEvent::Commented { comment } => {
            format!("comment on {}: {}", comment.node, comment.text)
        }
        PlanningEvent::CommentSettled { id, outcome } => match outcome {
            CommentOutcome::Addressed { how } => format!("comment {id} addressed: {how}"),
            CommentOutcome::Declined { why } => format!("comment {id} declined: {why}"),
            CommentOutcome::Stale => format!("comment {id} is stale: its row is gone"),
        },
        PlanningEvent::NodeLocked { node } => format!("{node} locked"),
        PlanningEvent::NodeUnlocked { node } => format!("{node} unlocked"),
        PlanningEvent::PolicySet { set, saved, .. } => {
            let fields = serde_json::to_value(set).unwrap_or_default();
            let words: Vec<String> = fields
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| {
                    let value = value.to_string().trim_matches('"').replace('_', " ");
                    format!("{} {value}", name.replace('_', " "))
                })
                .collect();
            let scope = if *saved { ", kept as your default" } else { "" };
            format!("policy: {}{scope}", words.join(", "))
        }
        PlanningEvent::Said { text } | PlanningEvent::Remarked { text } => {
            body = text.split_once('\n').map(|_| text.clone());
            text.lines().next().unwrap_or_default().to_owned()
        }
        PlanningEvent::IdeasOffered { ideas } => {
            body = Some(ideas.join("\n"));
            format_counted(ideas.len(), "idea")
        }
        PlanningEvent::IdeaTaken { idea } => format!("idea taken into the plan: {idea}"),
        PlanningEvent::KindChosen { choice } => {
            format!("planned as a {}, chosen by you", choice.pattern.kind_noun())
        }
        PlanningEvent::Restored { .. } => "the plan is restored".to_owned(),
        PlanningEvent::Troubled { what, .. } => what.clone(),
        PlanningEvent::DrafterSet { drafter } => {
            format!("drafted by {} from here on", drafter.describe())
        }
        PlanningEvent::WentOffline { why } => format!("continues with the built-in planner: {why}"),
        PlanningEvent::Edited { edit, .. } => {
            let nodes: Vec<&str> = edit
                .affected_nodes()
                .into_iter()
                .map(planwright_model::ids::TaskId::as_str)
                .collect();
            format!("edited by you {}", nodes.join(", ")).trim_end().to_owned()
        }
        PlanningEvent::Revised { what, .. } | PlanningEvent::ChangePutBack { what, .. } => {
            format!("by you: {what}")
        }
        PlanningEvent::OverlapsFound { report } => {
            let lines: Vec<String> = report
                .overlaps
                .iter()
                .map(|one| format!("{} and {} of {}", one.title, one.other_title, one.other_plan))
                .collect();
            body = Some(lines.join("\n")).filter(|_| !lines.is_empty());
            match lines.len() {
                0 => "nothing overlaps your other plans".to_owned(),
                count => format!("{} with your other plans", format_counted(count, "overlap")),
            }
        }
        PlanningEvent::OtherBlocksFreed { blocks } => {
            format!("{} of other plans may move", format_counted(blocks.len(), "block"))
        }
        PlanningEvent::RequestRead { text, edits } => {
            format!("\"{text}\" was read as {}", format_counted(edits.len(), "change"))
        }
        PlanningEvent::Undone { again: false } => "last change undone".to_owned(),
        PlanningEvent::Undone { again: true } => "change redone".to_owned(),
        PlanningEvent::CaughtUp { way, skipped, .. } => match way {
            CatchUpWay::MoveLate => "caught up: late tasks moved".to_owned(),
            CatchUpWay::SkipLate => {
                format!("caught up: {} skipped", format_counted(skipped.len(), "late task"))
            }
            CatchUpWay::PushBack => "caught up: everything open moved back".to_owned(),
            CatchUpWay::Replan => "everything open planned again".to_owned(),
        },
        PlanningEvent::CatchUpUndone {} => "the dates from before are back".to_owned(),
        PlanningEvent::ToolAnswered { tool, ok, text, .. } => {
            body = Some(format!("{tool}\n{text}"));
            planning_step_text(tool, *ok, text)
        }
        PlanningEvent::Prompted { source, text } => {
            let (heading, rest) = prompt_text(text, None, *source);
            body = rest;
            heading
        }
        PlanningEvent::ResultsCompacted { .. } => {
            "older results are shown shortened from here on".to_owned()
        }
        PlanningEvent::ConversationSummarized { text, .. } => {
            body = Some(text.clone());
            "the earlier conversation is summarized from here on".to_owned()
        }
        PlanningEvent::RequestsReported { reports } => {
            let lines: Vec<String> = reports.iter().map(RequestReport::describe).collect();
            body = Some(lines.join("\n")).filter(|_| lines.len() > 1);
            lines.first().cloned().unwrap_or_default()
        }
        PlanningEvent::ConversationOpened { .. }
        | PlanningEvent::StageOpened { .. }
        | PlanningEvent::StyleUnknown {}
        | PlanningEvent::StyleAsked {}
        | PlanningEvent::WorkFrozen { .. }
        | PlanningEvent::ContextSet { .. }
        | PlanningEvent::QuestionsFound { .. }
        | PlanningEvent::Traced { .. }
        | PlanningEvent::Logged { .. } => return None,
    };
    Some((kind, text, body))
}

fn position_text(place: PlanningPosition) -> String {
    match place.state {
        PlanState::CollectContext => "collecting context".to_owned(),
        PlanState::DraftOutline => "drafting the outline".to_owned(),
        PlanState::DraftRoadmap => "drafting the roadmap".to_owned(),
        PlanState::DraftSchedule => "drafting the schedule".to_owned(),
        PlanState::ValidateOutline => "checking the outline".to_owned(),
        PlanState::ValidateRoadmap => "checking the roadmap".to_owned(),
        PlanState::ValidateSchedule => "checking the schedule".to_owned(),
        PlanState::SeekApproval => match place.target {
            Some(target) => {
                format!("waits for your approval: {}", target.as_str().replace('_', " "))
            }
            None => "waits for your approval".to_owned(),
        },
        PlanState::NeedsClarification => match place.pause {
            Some(pause) => format!("waits for you: {}", pause.as_str().replace('_', " ")),
            None => "waits for you".to_owned(),
        },
        PlanState::NeedsSchedEscalation => "ends too late; waits for your choice".to_owned(),
        PlanState::Complete => "plan ready".to_owned(),
        PlanState::Aborted => "planning ended".to_owned(),
    }
}

/// The kind of step an agent's event is. The start of a task is a start, not a thought.
pub(super) fn agent_entry_kind(event: &AgentEvent) -> Option<TraceEntryKind> {
    if let AgentEvent::Decided { decision, .. } = event
        && matches!(**decision, AgentDecision::Task(TaskDecision::TaskBegun { .. }))
    {
        return Some(TraceEntryKind::Started);
    }
    kind_from_wire_name(event.kind())
}

pub(super) fn project_agent(event: &AgentEvent) -> Option<EntryProjection> {
    let kind = agent_entry_kind(event)?;
    let (text, body) = match event {
        AgentEvent::ModelFailed { failure, .. } => (failure.message.clone(), None),
        AgentEvent::Partial { text, .. } | AgentEvent::ProtocolDemoted { what: text, .. } => {
            split_heading(text)
        }
        AgentEvent::ModelDelayed { why, wait_sec, .. } => {
            let wait = format_elapsed(std::time::Duration::from_secs(*wait_sec));
            (format!("{why}; next try in {wait}"), None)
        }
        AgentEvent::Thought { step, .. } => split_heading(&thought_text(step)),
        AgentEvent::Acted { step, .. } => split_heading(&describe_action(&step.content)),
        AgentEvent::Observed { step, .. } => split_heading(&step.content),
        AgentEvent::Decided { decision, .. } => decision_text(decision),
        AgentEvent::Gated { decision } => {
            let reason = gate_reason(&decision.reason);
            let text = if decision.should_escalate {
                format!("needs a full run: {reason}")
            } else {
                format!("a single pass is enough: {reason}")
            };
            (text, serde_json::to_string_pretty(decision).ok())
        }
        AgentEvent::HandedIn { answer, .. } | AgentEvent::Concluded { answer, .. } => {
            split_heading(answer)
        }
        AgentEvent::CandidatePicked { agent, by, .. } => {
            let result = format!("the result of {}", planwright_model::agent_title(agent));
            let text = match by {
                Some(_) => format!("you picked {result}"),
                None => {
                    format!("{result} is taken: autonomy is high and only it meets the criteria")
                }
            };
            (text, None)
        }
        AgentEvent::Granted { words, .. } => (format!("allowed for this session: {words}"), None),
        AgentEvent::Revoked { rule } => {
            ("permission revoked".to_owned(), serde_json::to_string(rule).ok())
        }
        AgentEvent::ChildMoved { child, title, state, .. } => {
            (format!("{child} {}: {title}", state.as_str()), None)
        }
        AgentEvent::Prompted { text, message, source, .. } => prompt_text(text, *message, *source),
        AgentEvent::ResultsCompacted { .. } => {
            ("older results are shown shortened from here on".to_owned(), None)
        }
        AgentEvent::BudgetRenewed { .. } => ("may continue past its limits".to_owned(), None),
        AgentEvent::MessageSent { text, .. } => {
            let (heading, body) = split_heading(text);
            (format!("your message: {heading}"), body)
        }
        AgentEvent::SessionOpened { session, .. } => (session_text(session), None),
        AgentEvent::TodoListed { items, .. } => todo_text(items),
        AgentEvent::ConversationOpened { .. }
        | AgentEvent::UsageReported { .. }
        | AgentEvent::ModelAsked { .. }
        | AgentEvent::ModelWaiting { .. }
        | AgentEvent::ModelAnswered { .. }
        | AgentEvent::StateSaved { .. } => return None,
    };
    Some((kind, text, body))
}

/// Which agent of the person's own is at a task, and whether it asks.
fn session_text(session: &AgentSession) -> String {
    let version = session.version.iter().map(|version| format!(" {version}"));
    let name: String = std::iter::once(session.title.clone()).chain(version).collect();
    let begins = if session.loaded { "continues its session" } else { "starts" };
    let model = session.model.iter().map(|model| format!(", model {model}"));
    let model: String = model.collect();
    format!("{name} {begins} in its own copy, {}{model}", session.asks.describe())
}

/// What an agent is at, by its own list.
fn todo_text(items: &[AgentTodo]) -> (String, Option<String>) {
    let done = items.iter().filter(|item| item.status == AgentTodoStatus::Done).count();
    let now = items.iter().find(|item| item.status == AgentTodoStatus::UnderWay);
    let now = now.map(|item| format!(", now: {}", item.text)).unwrap_or_default();
    let line = |item: &AgentTodo| {
        let mark = match item.status {
            AgentTodoStatus::Open => "·",
            AgentTodoStatus::UnderWay => "►",
            AgentTodoStatus::Done => "✓",
        };
        format!("{mark} {}", item.text)
    };
    let lines: Vec<String> = items.iter().map(line).collect();
    let text = format!("to-do: {done} of {} done{now}", items.len());
    (text, Some(lines.join("\n")))
}

/// What was said to a model besides results. A message of the person was shown when it was sent.
fn prompt_text(text: &str, message: Option<u32>, source: PromptSource) -> (String, Option<String>) {
    let (heading, body) = split_heading(text);
    match (message, source) {
        (Some(_), _) => (format!("message delivered: {heading}"), body),
        (None, PromptSource::Person) => (format!("told your answer: {heading}"), body),
        (None, PromptSource::Retry) => (format!("continues after a failure: {heading}"), body),
        (None, PromptSource::Loop | PromptSource::Stage) => (format!("reminded: {heading}"), body),
    }
}

/// What an executor, a planner or the rules above them decided.
fn decision_text(decision: &AgentDecision) -> (String, Option<String>) {
    match decision {
        AgentDecision::Permitted(call) => (permission_text(&call.permission), None),
        AgentDecision::Task(decision) => (task_decision_text(decision), None),
        AgentDecision::Other(raw) => ("decides".to_owned(), Some(raw.as_str().to_owned())),
    }
}

fn task_decision_text(decision: &TaskDecision) -> String {
    match decision {
        TaskDecision::TaskBegun { resumed: true, step, .. } => {
            format!("continues with {}", step.as_deref().unwrap_or("the task"))
        }
        TaskDecision::TaskBegun { .. } => "starts".to_owned(),
        TaskDecision::LoopGuard { step, reasoning, .. } => {
            format!("loop guard: {} instead; {reasoning}", step.as_deref().unwrap_or("more"))
        }
        TaskDecision::Rejected { reasoning, .. } => format!("turned down: {reasoning}"),
        TaskDecision::Compacted { reasoning, .. } => format!("shortened: {reasoning}"),
        TaskDecision::Normalization { reasoning, .. } => format!("corrected: {reasoning}"),
        TaskDecision::ScoutCompleted { signals, .. } => {
            let seen = signals.complexity.map(|value| format!(": complexity {value:.2}"));
            format!("scout pass{}", seen.unwrap_or_default())
        }
        TaskDecision::GateDecision(TaskGateDecision { action, reasoning, .. }) => {
            format!("{}: {}", action.as_str(), gate_reason(reasoning))
        }
        TaskDecision::PlannerDecision(decision) => planner_decision_text(decision),
        TaskDecision::ExecutorDecision(decision) => executor_decision_text(decision),
    }
}

/// Why a task is looked into at length, or not.
fn gate_reason(reason: &str) -> String {
    match reason {
        "no_signal" => "nothing in it asks for more".to_owned(),
        "policy_disabled" => "longer runs are switched off".to_owned(),
        "force_exit" | "force_full" => "the settings say so".to_owned(),
        other => other.replace('_', " "),
    }
}

fn planner_decision_text(decision: &PlannerDecision) -> String {
    let PlannerDecision { task_type, reasoning, .. } = decision;
    match decision.action {
        PlannerAction::Execute => format!("planner: go ahead as {task_type}; {reasoning}"),
        PlannerAction::Complete => format!("planner: that is all; {reasoning}"),
    }
}

fn executor_decision_text(decision: &ExecutorDecision) -> String {
    match decision.action {
        ExecutorAction::CallTool => {
            let tool = decision.tool.as_ref().map_or("a tool", |tool| tool.name.as_str());
            format!("next: {} with {tool}", decision.step.as_deref().unwrap_or("a step"))
        }
        ExecutorAction::Done => "executor: done".to_owned(),
        ExecutorAction::Escalate => {
            format!("executor: stuck, back to the planner; {}", decision.reasoning)
        }
    }
}

/// A thought with who thinks it, where that is not the one who does the task.
fn thought_text(step: &ReActStep) -> std::borrow::Cow<'_, str> {
    match step.metadata.agent_role.as_ref().filter(|role| role.is_debating()) {
        Some(role) => {
            let phase = step.metadata.prdv.map(PrdvPhase::as_str).unwrap_or_default();
            format!("{role} ({phase}): {}", step.content).into()
        }
        None => step.content.as_str().into(),
    }
}

/// What let a call pass.
fn permission_text(by: &GrantBasis) -> String {
    match by {
        GrantBasis::Plan { .. } => "allowed by the plan".to_owned(),
        GrantBasis::Phase { class } => {
            format!("allowed by you for this phase: {}", class.as_str())
        }
        GrantBasis::Rule { words } => format!("allowed by a rule: {words}"),
        GrantBasis::Grant { words } => format!("allowed for this session: {words}"),
        GrantBasis::Person => "allowed by you, once".to_owned(),
        GrantBasis::Harmless => "allowed: it changes nothing".to_owned(),
    }
}

/// The first line, and all of it where there is more.
fn split_heading(text: &str) -> (String, Option<String>) {
    let first = text.lines().next().unwrap_or_default().to_owned();
    let more = text.lines().nth(1).is_some();
    (first, more.then(|| text.to_owned()))
}
