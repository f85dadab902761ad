//! What opens the conversation and each of its stages: made from what is really there, journaled once, never changed
//! afterwards. What stays the same comes first.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::json;

use super::super::context::questions_allowed;
use super::super::model::ModelClient;
use super::super::{Planner, said_hints};
use super::plan_words::{
    describe_facts, describe_findings, describe_plan, describe_schedule, describe_time,
};
use planwright_agents::{DATA_RULE, frame_data, project_instructions, result_share};
use planwright_drafting::controller::requires_approval;
use planwright_model::agent_conversation::ConversationOpening;
use planwright_model::{
    ApprovalTarget, Digest, InteractionPolicy, PatternType, PlanState, TaskId, Violation,
};
use planwright_state::PlanningSlice;

/// How many names of the workspace are shown before the model looks.
const MAX_NAMES: usize = 80;

impl Planner {
    /// How the conversation about a goal opens.
    pub(super) fn conversation_opening(
        &self,
        client: &ModelClient,
        talk: &PlanningSlice,
        now: Timestamp,
    ) -> ConversationOpening {
        let redact = |text: &str| client.redactor.redact(text).into_owned();
        ConversationOpening {
            task: Digest::from_json(&json!(["planning", talk.thread_id])),
            system: redact(&self.system_prompt(client)),
            briefing: redact(&self.goal_briefing(client, talk, now)),
            tools: Vec::new(),
            result_tokens: result_share(client.dialogue.model().info()),
            agent: None,
        }
    }

    fn system_prompt(&self, client: &ModelClient) -> String {
        let mut parts = vec![client.prompts.text("open_planner").to_owned()];
        let mut kinds = String::from("## Known subtypes");
        for kind in PatternType::ALL {
            let _ = write!(kinds, "\n- {kind}: {}", kind.subtypes().join(", "));
        }
        if !self.own_subtypes.is_empty() {
            let _ = write!(kinds, "\n- the person's own: {}", self.own_subtypes.join(", "));
        }
        parts.push(kinds);
        parts.push(format!("## Data\n{DATA_RULE}"));
        let workspace = client.workspace.as_ref().map(|one| one.toolbox().workspace());
        parts.extend(workspace.and_then(|workspace| project_instructions(workspace)));
        parts.join("\n\n")
    }

    fn goal_briefing(&self, client: &ModelClient, talk: &PlanningSlice, now: Timestamp) -> String {
        let today = self.local_date(now);
        let mut text = format!(
            "The goal, as the person typed it:\n{}\n\nToday is {} {today}. Platform: {} ({}).\n",
            quote_lines(&talk.goal),
            today.strftime("%A"),
            std::env::consts::OS,
            std::env::consts::ARCH,
        );
        let Some(workspace) = &client.workspace else {
            text.push_str("There is no workspace to look at.\n");
            return text;
        };
        let root = workspace.toolbox().workspace().root();
        let names = top_names(root);
        let _ = writeln!(text, "Workspace: {}", root.display());
        text.push_str(&frame_data("names at the top of the workspace", &names.join("\n")));
        text.push('\n');
        text
    }

    /// What a stage begins with.
    pub(super) fn stage_prompt(
        &self,
        talk: &PlanningSlice,
        findings: &[Violation],
        now: Timestamp,
    ) -> String {
        let today = self.local_date(now);
        let mut text = format!("{}\n\n", stage_heading(talk));
        let facts = describe_facts(talk, today);
        if !facts.is_empty() {
            let _ = writeln!(text, "What was said and applies:\n{facts}");
        }
        let unread = talk.facts.active().all(|fact| fact.reading.is_none());
        if talk.place.state == PlanState::CollectContext && unread {
            let hints = said_hints(talk, self.goal_parse_context(now), today);
            if !hints.is_empty() {
                let hints = hints.join("; ");
                let _ = writeln!(
                    text,
                    "A simple reader understood (check it, it may be wrong): {hints}\n"
                );
            }
        }
        let context = self.plan_context(talk, now);
        let time = describe_time(&context, &self.calendar.current_events(), &self.others);
        let _ = writeln!(text, "Time:\n{time}");
        if let Some(choice) = talk.pattern.as_ref().filter(|_| talk.outline.is_none()) {
            let subtype = choice.pattern.subtype.as_deref().unwrap_or("none");
            let _ = writeln!(
                text,
                "Kind of plan, settled: {} / {subtype}\n",
                choice.pattern.pattern_type
            );
        }
        if talk.outline.is_some() {
            let _ = writeln!(text, "{}", describe_plan(talk));
        }
        let dated =
            talk.place.state == PlanState::DraftSchedule || !talk.change_requests.is_empty();
        if let (true, Some(outline), Some(roadmap), Some(schedule)) =
            (dated, &talk.outline, &talk.roadmap, &talk.schedule)
        {
            let _ = writeln!(text, "{}", describe_schedule(outline, roadmap, schedule));
        }
        text.push_str(&what_happened(talk, findings));
        let _ = writeln!(text, "Policy: {}", policy_words(talk));
        let _ = writeln!(text, "Questions you may still ask now: {}.", questions_allowed(talk));
        text.push_str(&stage_task(talk));
        text
    }
}

/// Words of the person's, set apart from ours. They are no data of somebody else's.
fn quote_lines(text: &str) -> String {
    let text = planwright_text::clean_text(text.trim());
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// The names at the top of a directory, hidden ones left out.
fn top_names(root: &std::path::Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            format!("{}{slash}", planwright_text::clean_line(&entry.file_name().to_string_lossy()))
        })
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names.truncate(MAX_NAMES);
    names
}

/// How the person wants to be talked to and asked.
pub(in super::super) fn policy_words(talk: &PlanningSlice) -> String {
    let policy = talk.interaction_policy();
    let InteractionPolicy { talkativeness, probing_depth, .. } = policy;
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().replace('_', " ");
    let asks = |target| requires_approval(&policy, talk.small_goal, target);
    let cards: Vec<&str> =
        [(ApprovalTarget::Outline, "outline"), (ApprovalTarget::Roadmap, "roadmap")]
            .into_iter()
            .filter(|(target, _)| asks(*target))
            .map(|(_, name)| name)
            .chain(["final plan"])
            .collect();
    format!(
        "style {}, talkativeness {talkativeness}, tone {}, autonomy {}, probing depth {probing_depth} (questions at once); the person approves: {}.",
        word(json!(policy.conversation_style)),
        word(json!(policy.tone)),
        word(json!(policy.autonomy)),
        cards.join(", "),
    )
}

/// How the prompt of a schedule stage begins.
pub(super) const SCHEDULE_HEADING: &str = "# Stage: schedule";

fn stage_heading(talk: &PlanningSlice) -> String {
    let stage = match talk.place.state {
        PlanState::CollectContext => "# Stage: context",
        PlanState::DraftOutline => "# Stage: outline",
        PlanState::DraftRoadmap => "# Stage: roadmap",
        _ => SCHEDULE_HEADING,
    };
    let asked = if talk.change_requests.is_empty() { "" } else { ", for change requests" };
    format!("{stage}{asked}")
}

/// Why the stage is entered: requests, what was turned down, what was found wrong.
fn what_happened(talk: &PlanningSlice, findings: &[Violation]) -> String {
    let mut text = String::new();
    if !talk.change_requests.is_empty() {
        text.push_str("The person writes about the plan that they saw:\n");
        for (number, request) in (1..).zip(&talk.change_requests) {
            let nodes: Vec<&str> = request.nodes.iter().map(TaskId::as_str).collect();
            let about = if nodes.is_empty() {
                String::new()
            } else {
                format!(" (about {} and what is below)", nodes.join(", "))
            };
            let _ = writeln!(text, "Request {number}{about}:\n{}", quote_lines(&request.text));
        }
    }
    if let Some(option) = &talk.picked_option
        && talk.place.state == PlanState::DraftRoadmap
    {
        let label = talk
            .roadmap
            .as_deref()
            .and_then(|roadmap| roadmap.options_tried.iter().find(|tried| tried.id == *option));
        let label = label.map_or(option.as_str(), |tried| tried.label.as_str());
        let _ = writeln!(
            text,
            "The person picked the option \"{label}\". Change the plan to it, and mark it as chosen."
        );
    }
    if !talk.excluded_options.is_empty() {
        let _ = writeln!(
            text,
            "The person turned the draft above down and wants another one. Turned down so far: {}. Plan it in a really different way.",
            talk.excluded_options.join(", ")
        );
    }
    if talk.accepted_late {
        text.push_str("The person accepts that it ends after the deadline.\n");
    }
    if !findings.is_empty() {
        let _ = writeln!(text, "What the rules find in it:\n{}", describe_findings(findings));
    }
    text
}

fn stage_task(talk: &PlanningSlice) -> String {
    let asked = !talk.change_requests.is_empty();
    let task = match talk.place.state {
        PlanState::CollectContext => {
            "Now: record what rules can check of what was said, look at the workspace if the goal is about it, ask if you must, and hand in."
        }
        PlanState::DraftOutline if talk.outline.is_none() => {
            "Now: choose the kind with PatternSelector, draft the whole tree with NodeGenerator, and hand in. Give minutes, owners, dates and needs along with the tasks."
        }
        PlanState::DraftOutline => "Now: change the draft with NodeGenerator, and hand in.",
        PlanState::DraftRoadmap if !asked => {
            "Now: complete estimates, owners and links, compare options with RoadmapBuilder, look at the dates with ScheduleGenerator, and hand in."
        }
        PlanState::DraftRoadmap => {
            "Now: do what was asked with operations, look at the dates with ScheduleGenerator if they may move, and hand in with a report on each request."
        }
        _ => {
            "Now: check every date against what was said. If it is right, hand in; if not, change the draft and run ScheduleGenerator. If it cannot fit without breaking what was said, hand in and say so in the summary: the person decides."
        }
    };
    let reports = if asked && talk.place.state != PlanState::DraftRoadmap {
        " Report on each request."
    } else {
        ""
    };
    format!("{task}{reports}\n")
}
