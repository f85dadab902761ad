//! Handing a stage in: the draft and the reports are checked first, and findings go back to the model before anybody sees
//! them.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::super::StageResult;
use super::calls::ToolCallEnd;
use super::plan_words::describe_findings;
use super::reports::{check_reports, report_events};
use super::stage_prompts::SCHEDULE_HEADING;
use super::tool_schemas::HAND_IN;
use super::{StageConversation, is_serious};
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::agent_conversation::PromptSource;
use planwright_model::event::PlanningEvent;
use planwright_model::{PlanDrafter, Stage, Violation};
use planwright_state::ConversationEntry;

/// So often a stage is sent back for what is new; then the controller decides about what is left.
const MOST_REFUSALS: usize = 2;
/// What a model that says nothing about it is taken to think of its draft.
const USUAL_CONFIDENCE: f64 = 0.8;
const LOW_CONFIDENCE: f64 = 0.5;

/// What keeps a draft from being handed in.
#[derive(Default)]
struct HandInProblems {
    findings: Vec<Violation>,
    others: Vec<String>,
    /// The schedule that follows from the draft.
    schedule: Option<planwright_model::Schedule>,
}

impl StageConversation<'_> {
    pub(super) fn hand_in(&mut self, arguments: &Value) -> ToolCallEnd {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let summary = planwright_text::clean_text(text("summary").trim()).into_owned();
        if summary.is_empty() {
            return ToolCallEnd::refused("`summary` must say in a sentence what was done.");
        }
        if text("status") == "error" {
            let end = Some(self.give_up(&format!("{}: {summary}", self.client.name())));
            return ToolCallEnd { end, ..ToolCallEnd::done("The person decides how to continue.") };
        }
        let Some(stage) = self.talk.place.state.drafted_stage() else {
            let work = StageResult::new(ControllerOutcome::SufficientContext);
            return self.end_stage(work, &summary);
        };
        let low = text("status") == "low_confidence";
        let usual = if low { LOW_CONFIDENCE } else { USUAL_CONFIDENCE };
        let score = arguments.get("confidence").and_then(Value::as_f64).unwrap_or(usual);
        self.hand_in_draft(stage, arguments, score.clamp(0.0, 1.0), &summary)
    }

    fn hand_in_draft(
        &mut self,
        stage: Stage,
        arguments: &Value,
        score: f64,
        summary: &str,
    ) -> ToolCallEnd {
        if self.talk.outline.as_deref().is_none_or(|outline| outline.nodes.len() < 2) {
            return ToolCallEnd::refused("There is no plan to hand in: draft it first.");
        }
        let mut problems = self.find_problems(stage);
        let checked = check_reports(&self.talk, arguments, problems.schedule.as_ref());
        problems.others.extend(checked.problems);
        let found = !problems.findings.is_empty() || !problems.others.is_empty();
        if found && self.refusals() < MOST_REFUSALS && !self.was_told(&problems, stage) {
            return ToolCallEnd::refused(self.describe_problems(&problems));
        }
        let mut work = StageResult::new(ControllerOutcome::Success);
        for event in self.final_events(stage, score, problems.schedule) {
            work = work.with_event(event);
        }
        for event in report_events(&self.talk, checked.reports) {
            work = work.with_event(event);
        }
        self.end_stage(work, summary)
    }

    /// The words of the model come before what it hands in.
    fn end_stage(&self, mut work: StageResult, summary: &str) -> ToolCallEnd {
        let text = self.client.redactor.redact(summary).into_owned();
        work.events.insert(0, PlanningEvent::Remarked { text }.into());
        ToolCallEnd { end: Some(work), ..ToolCallEnd::done("Handed in.") }
    }

    /// How often this stage was sent back.
    fn refusals(&self) -> usize {
        let sent_back = |entry: &&ConversationEntry| matches!(entry, ConversationEntry::Result { tool, ok: false, .. } if tool == HAND_IN);
        self.stage_entries().iter().filter(sent_back).count()
    }

    /// Whether a hand-in was sent back for all of this before: the model hands in all the same, and says why. A report
    /// that does not fit is never accepted so.
    fn was_told(&self, problems: &HandInProblems, stage: Stage) -> bool {
        let sent_back: Vec<&str> = self
            .told_entries(stage)
            .iter()
            .filter_map(|entry| match entry {
                ConversationEntry::Result { tool, ok: false, text, .. } if tool == HAND_IN => {
                    Some(text.as_str())
                }
                _ => None,
            })
            .collect();
        let told = |finding: &Violation| {
            let line = describe_findings(std::slice::from_ref(finding));
            sent_back.iter().any(|text| text.contains(line.trim_end()))
        };
        problems.others.is_empty() && problems.findings.iter().all(told)
    }

    /// The entries of the stage; what was accepted in a roadmap is so in every schedule of it.
    fn told_entries(&self, stage: Stage) -> &[ConversationEntry] {
        let talk = self.talk.conversation.as_deref();
        let entries = talk.map(|talk| talk.entries.as_slice()).unwrap_or_default();
        let opens = |entry: &ConversationEntry| match entry {
            ConversationEntry::Prompt { source: PromptSource::Stage, text } => {
                stage != Stage::Schedule || !text.starts_with(SCHEDULE_HEADING)
            }
            _ => false,
        };
        entries.iter().rposition(opens).map_or(entries, |at| &entries[at..])
    }

    fn find_problems(&self, stage: Stage) -> HandInProblems {
        let mut findings = self.findings(stage.min(Stage::Roadmap));
        findings.retain(is_serious);
        let mut problems = HandInProblems { findings, ..HandInProblems::default() };
        if stage == Stage::Outline {
            return problems;
        }
        match self.preview_schedule() {
            Ok((schedule, mut found)) => {
                found.retain(|found| is_serious(found) && !self.is_accepted(found));
                problems.findings.extend(found);
                problems.schedule = Some(schedule);
            }
            Err(why) => problems.others.push(why),
        }
        if let Some(picked) = &self.talk.picked_option
            && stage == Stage::Roadmap
            && let Some(roadmap) = self.talk.roadmap.as_deref()
            && !roadmap.options_tried.iter().any(|tried| tried.chosen && tried.id == *picked)
            && roadmap.options_tried.iter().any(|tried| tried.id == *picked)
        {
            problems.others.push(
                "the person picked another option than the one that is chosen now".to_owned(),
            );
        }
        problems
    }

    /// A late finish that the person accepted is theirs.
    fn is_accepted(&self, found: &Violation) -> bool {
        self.talk.accepted_late && found.rule == "G401"
    }

    fn describe_problems(&self, problems: &HandInProblems) -> String {
        let mut text = String::from("Not handed in yet.\n");
        for other in &problems.others {
            let _ = writeln!(text, "- {other}");
        }
        text.push_str(&describe_findings(&problems.findings));
        if let Some(schedule) = &problems.schedule {
            let dates = self.dates_words(schedule);
            let talk = self.talk.conversation.as_deref();
            let shown = talk.is_some_and(|talk| {
                talk.finished_calls().any(|(_, _, text)| text.contains(dates.trim_end()))
            });
            text.push_str(if shown {
                "The dates are those that were shown before.\n"
            } else {
                &dates
            });
        }
        text.push_str(
            "Fix it and hand in again. What cannot be fixed without breaking what was said is left as it is: hand in again and say so.",
        );
        text
    }

    fn final_events(
        &self,
        stage: Stage,
        score: f64,
        schedule: Option<planwright_model::Schedule>,
    ) -> Vec<PlanningEvent> {
        let by = PlanDrafter::Model(self.client.name());
        let self_score = Some(score);
        match (stage, &self.talk.outline, &self.talk.roadmap) {
            (Stage::Outline, Some(outline), _) => {
                vec![PlanningEvent::OutlineDrafted { outline: outline.clone(), by, self_score }]
            }
            (Stage::Roadmap, _, Some(roadmap)) => {
                vec![PlanningEvent::RoadmapDrafted { roadmap: roadmap.clone(), by, self_score }]
            }
            _ => schedule
                .filter(|made| self.talk.schedule.as_deref() != Some(made))
                .map(|made| PlanningEvent::ScheduleDrafted {
                    schedule: Arc::new(made),
                    by: PlanDrafter::Offline,
                })
                .into_iter()
                .collect(),
        }
    }
}
