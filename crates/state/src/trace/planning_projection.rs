//! What a person reads of planning and of agents at work.

use serde_json::Value;

use super::{EntryProjection, TraceEntryKind};
use planwright_model::event::{AgentEvent, PlanningEvent};
use planwright_model::{CommentOutcome, PlanState, PlanningPosition, ReActStep};
use planwright_text::units::format_counted;

/// The kind of step an event of planning or of an agent is by its wire name; `None` for those that only keep books.
pub(super) fn kind_from_wire_name(kind: &str) -> Option<TraceEntryKind> {
    Some(match kind {
        "planning.traced"
        | "planning.logged"
        | "planning.questions_found"
        | "planning.context_set"
        | "agent.model_asked"
        | "agent.model_answered"
        | "agent.state_saved" => return None,
        "planning.troubled" | "agent.model_failed" => TraceEntryKind::Failed,
        "planning.said"
        | "planning.ideas_offered"
        | "agent.partial"
        | "agent.thought"
        | "agent.decided"
        | "agent.gated" => TraceEntryKind::Thought,
        "planning.questions_answered"
        | "planning.goal_set"
        | "planning.changes_requested"
        | "planning.option_picked"
        | "planning.options_excluded"
        | "planning.accepted_late"
        | "planning.commented"
        | "planning.node_locked"
        | "planning.node_unlocked"
        | "planning.policy_set"
        | "planning.edited"
        | "planning.undone"
        | "agent.granted"
        | "agent.revoked" => TraceEntryKind::Answered,
        "agent.acted" => TraceEntryKind::Action,
        "agent.observed" | "agent.concluded" | "agent.child_moved" => TraceEntryKind::Observed,
        other if other.starts_with("planning.") => TraceEntryKind::Plan,
        _ => TraceEntryKind::Unknown,
    })
}

pub(super) fn project_planning(event: &PlanningEvent) -> Option<EntryProjection> {
    let kind = kind_from_wire_name(event.kind())?;
    let mut body = None;
    let text = match event {
        PlanningEvent::Began { goal, drafter, .. } => {
            format!("planning \"{goal}\", drafted by {drafter}")
        }
        PlanningEvent::GoalSet { goal } => format!("the goal is \"{goal}\""),
        PlanningEvent::Moved { to, why, .. } => {
            body = Some(why.join("\n")).filter(|why| !why.is_empty());
            position_text(*to)
        }
        PlanningEvent::QuestionsAnswered { answers } => {
            let said: Vec<String> = answers
                .iter()
                .map(|(key, answer)| match answer.as_str() {
                    "" => format!("{key}: assume"),
                    answer => format!("{key}: {answer}"),
                })
                .collect();
            said.join(", ")
        }
        PlanningEvent::PatternPicked { choice } => {
            body = Some(choice.explanations.join("\n")).filter(|words| !words.is_empty());
            let subtype = choice.pattern.subtype.as_deref().unwrap_or("no subtype");
            format!("pattern {} / {subtype}, {:.2}", choice.pattern.pattern_type, choice.confidence)
        }
        PlanningEvent::OutlineDrafted { outline, by, .. } => {
            let nodes = format_counted(outline.nodes.len(), "node");
            format!("outline v{} with {nodes} by {by}", outline.version)
        }
        PlanningEvent::RoadmapDrafted { roadmap, by, .. } => format!(
            "roadmap of {} with {} by {by}",
            planwright_text::units::format_planned(roadmap.total_minutes.into()),
            format_counted(roadmap.dependencies.len(), "link")
        ),
        PlanningEvent::ScheduleDrafted { schedule, by } => {
            format!("schedule with {} by {by}", format_counted(schedule.blocks.len(), "block"))
        }
        PlanningEvent::Judged { stage, judgement } => {
            let lines: Vec<String> = judgement
                .violations
                .iter()
                .map(|found| format!("{} {}", found.rule, found.message))
                .collect();
            body = Some(lines.join("\n")).filter(|lines| !lines.is_empty());
            let confidence = judgement.confidence.value;
            match judgement.violations.len() {
                0 => format!("{} checked, confidence {confidence:.3}", stage.as_str()),
                1 => format!("{} checked, 1 finding, confidence {confidence:.3}", stage.as_str()),
                count => format!(
                    "{} checked, {count} findings, confidence {confidence:.3}",
                    stage.as_str()
                ),
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
                    .map(|wish| format!("met: {wish}"))
                    .chain(open.iter().map(|wish| format!("left open: {wish}")))
                    .collect::<Vec<_>>()
                    .join("\n"),
            );
            match (met.len(), open.len()) {
                (_, 0) => "wishes met".to_owned(),
                (0, _) => format!("left open: {}", open.join("; ")),
                (count, _) => {
                    let wishes = if count == 1 { "wish" } else { "wishes" };
                    format!("{count} {wishes} met, left open: {}", open.join("; "))
                }
            }
        }
        PlanningEvent::OptionPicked { option } => format!("option {option} picked"),
        PlanningEvent::OptionsExcluded { options } => {
            format!("turned down: {}", options.join(", "))
        }
        PlanningEvent::Relaxed { summary, by: Some(_) } => format!("relaxed by you: {summary}"),
        PlanningEvent::Relaxed { summary, by: None } => format!("relaxed: {summary}"),
        PlanningEvent::AcceptedLate { .. } => "a late finish is accepted".to_owned(),
        PlanningEvent::Commented { comment } => {
            format!("comment on {}: {}", comment.node, comment.text)
        }
        PlanningEvent::CommentSettled { id, outcome } => match outcome {
            CommentOutcome::Addressed { how } => format!("comment {id} addressed: {how}"),
            CommentOutcome::Declined { why } => format!("comment {id} declined: {why}"),
            CommentOutcome::Stale => format!("comment {id} is stale: its node is gone"),
        },
        PlanningEvent::NodeLocked { node } => format!("{node} locked"),
        PlanningEvent::NodeUnlocked { node } => format!("{node} unlocked"),
        PlanningEvent::PolicySet { set, saved, .. } => {
            let fields = serde_json::to_value(set).unwrap_or_default();
            let words: Vec<String> = fields
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"')))
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
        PlanningEvent::Troubled { what } => what.clone(),
        PlanningEvent::DrafterSet { drafter } => format!("drafted by {drafter} from here on"),
        PlanningEvent::WentOffline { why } => format!("goes on offline: {why}"),
        PlanningEvent::Edited { edit, .. } => {
            let nodes: Vec<&str> = edit
                .affected_nodes()
                .into_iter()
                .map(planwright_model::ids::TaskId::as_str)
                .collect();
            format!("edited by you {}", nodes.join(", ")).trim_end().to_owned()
        }
        PlanningEvent::Undone { again: false } => "last change of the plan taken back".to_owned(),
        PlanningEvent::Undone { again: true } => "change of the plan made again".to_owned(),
        PlanningEvent::StyleUnknown {}
        | PlanningEvent::StyleAsked {}
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
            Some(target) => format!("seeks approval: {}", target.as_str()),
            None => "seeks approval".to_owned(),
        },
        PlanState::NeedsClarification => match place.pause {
            Some(pause) => format!("waits for you: {}", pause.as_str().replace('_', " ")),
            None => "waits for you".to_owned(),
        },
        PlanState::NeedsSchedEscalation => "does not fit; waits for your choice".to_owned(),
        PlanState::Complete => "planning complete".to_owned(),
        PlanState::Aborted => "planning ended".to_owned(),
    }
}

pub(super) fn project_agent(event: &AgentEvent) -> Option<EntryProjection> {
    let kind = kind_from_wire_name(event.kind())?;
    let (text, body) = match event {
        AgentEvent::ModelFailed { failure, .. } => (failure.message.clone(), None),
        AgentEvent::Partial { text, .. } => split_heading(text),
        AgentEvent::Thought { step, .. } => split_heading(&thought_text(step)),
        AgentEvent::Acted { step, .. } | AgentEvent::Observed { step, .. } => {
            split_heading(&step.content)
        }
        AgentEvent::Decided { decision, .. } => decision_text(decision),
        AgentEvent::Gated { decision } => {
            let full = decision.get("should_escalate").and_then(Value::as_bool);
            let reason = decision.get("reason").and_then(|value| value.as_str()).unwrap_or("");
            let text = match full {
                Some(true) => format!("a full run is needed: {reason}"),
                _ => format!("a single pass is enough: {reason}"),
            };
            (text, serde_json::to_string_pretty(decision).ok())
        }
        AgentEvent::Concluded { answer, .. } => split_heading(answer),
        AgentEvent::Granted { words, .. } => (format!("granted for this session: {words}"), None),
        AgentEvent::Revoked { rule } => ("grant taken back".to_owned(), Some(rule.to_string())),
        AgentEvent::ChildMoved { child, title, state, .. } => {
            let word = state.get("state").and_then(|value| value.as_str()).unwrap_or("moved");
            (format!("{child} {word}: {title}"), None)
        }
        AgentEvent::ModelAsked { .. }
        | AgentEvent::ModelAnswered { .. }
        | AgentEvent::StateSaved { .. } => return None,
    };
    Some((kind, text, body))
}

/// What an executor, a planner or the rules above them decided.
fn decision_text(decision: &Value) -> (String, Option<String>) {
    if let Some(by) = decision.get("permission") {
        return (permission_text(by), None);
    }
    let word = |name: &str| decision.get(name).and_then(|value| value.as_str());
    let reasoning = word("reasoning").unwrap_or_default().to_owned();
    let step = word("step");
    if let Some(by) = decision.pointer("/permission/by").and_then(Value::as_str) {
        let words = decision.pointer("/permission/words").and_then(Value::as_str);
        let why = match by {
            "harmless" => "it changes nothing outside",
            "plan" => "the approved plan lists it",
            "phase" => "you allowed its kind for this phase",
            "person" => "you said yes to this call",
            _ => words.unwrap_or("a rule"),
        };
        return (format!("{} may run: {why}", word("tool").unwrap_or("it")), None);
    }
    let text = match (word("_type"), word("action")) {
        (Some("TASK_BEGUN"), Some("resume")) => {
            return (format!("goes on with {}", step.unwrap_or("the task")), None);
        }
        (Some("TASK_BEGUN"), _) => return ("begins".to_owned(), None),
        (Some("LOOP_GUARD"), _) => {
            return (format!("loop guard: {} instead; {reasoning}", step.unwrap_or("more")), None);
        }
        (Some("REJECTED"), _) => return (format!("turned down: {reasoning}"), None),
        (Some("COMPACTED"), _) => return (format!("shortened: {reasoning}"), None),
        (Some("NORMALIZATION"), _) => return (format!("corrected: {reasoning}"), None),
        (Some("SCOUT_COMPLETED"), _) => {
            let complexity = decision.pointer("/signals/complexity").and_then(Value::as_f64);
            let seen = complexity.map(|value| format!(": complexity {value:.2}"));
            return (format!("scout pass{}", seen.unwrap_or_default()), None);
        }
        (Some("GATE_DECISION"), Some(action)) => {
            let why = if reasoning == "no_signal" { "no signal asks for more" } else { &reasoning };
            return (format!("{action}: {}", why.replace('_', " ")), None);
        }
        (Some("PLANNER_DECISION"), Some("EXECUTE")) => {
            let kind = word("task_type").unwrap_or_default();
            return (format!("planner: go ahead as {kind}; {reasoning}"), None);
        }
        (Some("PLANNER_DECISION"), _) => {
            return (format!("planner: that is all; {reasoning}"), None);
        }
        (Some("EXECUTOR_DECISION"), Some("CALL_TOOL")) => {
            let tool = decision.pointer("/tool/name").and_then(Value::as_str).unwrap_or("a tool");
            return (format!("next: {} with {tool}", step.unwrap_or("a step")), None);
        }
        (Some("EXECUTOR_DECISION"), Some("DONE")) => return ("executor: done".to_owned(), None),
        (Some("EXECUTOR_DECISION"), Some("ESCALATE")) => {
            return (format!("executor: stuck, back to the planner; {reasoning}"), None);
        }
        (_, Some(action)) => match step {
            Some(step) => format!("decides {action} {step}"),
            None => format!("decides {action}"),
        },
        _ => "decides".to_owned(),
    };
    (text, Some(reasoning).filter(|words| !words.is_empty()))
}

/// A thought with who thinks it, where that is not the one who does the task.
fn thought_text(step: &ReActStep) -> std::borrow::Cow<'_, str> {
    let role = step.metadata.get("agent_role").and_then(Value::as_str);
    match role {
        Some(role @ ("proposer" | "critic" | "synthesizer")) => {
            let prdv = step.metadata.get("prdv").and_then(Value::as_str).unwrap_or_default();
            format!("{role} ({prdv}): {}", step.content).into()
        }
        _ => step.content.as_str().into(),
    }
}

/// What let a call pass.
fn permission_text(by: &Value) -> String {
    let word = |name: &str| by.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    match word("by") {
        "plan" => format!("allowed by plan {}", &word("revision").get(..7).unwrap_or_default()),
        "phase" => format!("allowed by you for this phase: {}", word("class")),
        "rule" => format!("allowed by a rule: {}", word("words")),
        "grant" => format!("allowed for this session: {}", word("words")),
        "person" => "allowed by you, once".to_owned(),
        _ => "allowed: it changes nothing".to_owned(),
    }
}

/// The first line, and all of it where there is more.
fn split_heading(text: &str) -> (String, Option<String>) {
    let first = text.lines().next().unwrap_or_default().to_owned();
    let more = text.lines().nth(1).is_some();
    (first, more.then(|| text.to_owned()))
}
