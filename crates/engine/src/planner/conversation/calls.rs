//! The calls of one answer: looks beside each other, everything else in order, and a result for each.

use futures_util::future::join_all;
use serde_json::Value;

use super::super::context::questions_allowed;
use super::super::{StageResult, trace};
use super::plan_words::{describe_findings, question_key};
use super::readings::{WrittenFact, apply_beside, fact_events};
use super::tool_schemas::{
    ELICIT, FACT, HAND_IN, IDEAS, LINKS, NODES, OPTIONS, PATTERN, PORTFOLIO, PREFERENCE,
    READ_RESULT, ROADMAP, SCHEDULE, SUMMARIZE, VALIDATE, is_own_tool,
};
use super::{StageConversation, is_serious};
use planwright_agents::{read_item, render_result};
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::event::{Event, FactEvent, PlanningEvent};
use planwright_model::{Fact, PlanQuestion, PlanningToolName, QuestionChoice, Stage, ToolResult};
use planwright_state::ConversationCall;
use std::sync::Arc;

/// The most questions at once, whatever the policy.
const MOST_QUESTIONS: usize = 3;
/// The most choices of a question.
const MOST_CHOICES: usize = 9;

/// What came of a call.
pub(super) struct ToolCallEnd {
    pub(super) ok: bool,
    pub(super) text: String,
    /// What the stage came to, if the call ends it.
    pub(super) end: Option<StageResult>,
}

impl ToolCallEnd {
    pub(super) fn done(text: impl Into<String>) -> Self {
        Self { ok: true, text: text.into(), end: None }
    }

    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into(), end: None }
    }
}

impl From<Result<String, String>> for ToolCallEnd {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self::done(text),
            Err(text) => Self::refused(text),
        }
    }
}

impl StageConversation<'_> {
    /// Runs the calls of an answer. Something comes back if the stage ends; then what was not run says so.
    pub(super) async fn run_calls(&mut self, calls: &[ConversationCall]) -> Option<StageResult> {
        let mut rest = calls;
        let mut failed = None;
        while let Some(first) = rest.first() {
            if self.cancel.is_cancelled() {
                return Some(StageResult::new(ControllerOutcome::WallTime));
            }
            let looks = rest.iter().take_while(|call| self.is_look(call)).count();
            if looks > 0 {
                self.run_looks(&rest[..looks]).await;
                rest = &rest[looks..];
                continue;
            }
            let outcome = match failed {
                Some(number) if first.tool == HAND_IN => ToolCallEnd::refused(format!(
                    "Not run, because call_{number} of the same answer did not succeed; look at its result first."
                )),
                _ => self.run_own_call(first),
            };
            if !outcome.ok {
                failed = failed.or(Some(first.number));
            }
            let note = first.note.as_ref().map(|note| format!("\n({note})")).unwrap_or_default();
            let text = format!("{}{note}", outcome.text);
            rest = &rest[1..];
            if let Some(end) = outcome.end {
                return Some(self.end_with_results(end, (first, &text), rest));
            }
            self.record_result(first, outcome.ok, &text);
            self.flush();
        }
        None
    }

    /// Puts the last results into what the stage came to: a process that is killed leaves all of it or nothing, and then
    /// the call that ended the stage is made again.
    fn end_with_results(
        &self,
        mut end: StageResult,
        (last, text): (&ConversationCall, &str),
        rest: &[ConversationCall],
    ) -> StageResult {
        let unrun = "Not run, because the stage ended with the call before it.";
        let results = std::iter::once(self.result_event(last, true, text))
            .chain(rest.iter().map(|call| self.result_event(call, false, unrun)));
        end.events.splice(0..0, results.map(Event::from).collect::<Vec<_>>());
        end
    }

    fn is_look(&self, call: &ConversationCall) -> bool {
        let talk = self.talk.conversation.as_deref();
        let offered = talk.is_some_and(|talk| {
            talk.opening.tools.iter().any(|tool| tool.name == call.tool && tool.read_only)
        });
        call.problem.is_none() && offered
    }

    async fn run_looks(&mut self, calls: &[ConversationCall]) {
        let share = self.talk.conversation.as_deref().map_or(0, |talk| talk.opening.result_tokens);
        let (workspace, cancel) = (self.client.workspace.clone(), self.cancel.clone());
        let looks = calls.iter().map(|call| {
            let (workspace, cancel) = (workspace.clone(), cancel.clone());
            async move {
                let args = call.arguments.clone();
                match workspace {
                    Some(place) => Some(place.look(&call.tool, args, call.number, &cancel).await),
                    None => None,
                }
            }
        });
        let found: Vec<Option<ToolResult>> = join_all(looks).await;
        for (call, result) in calls.iter().zip(found) {
            match result {
                Some(result) => {
                    let text = render_result(share, &call.tool, &result);
                    self.record_result(call, result.ok, &text);
                }
                None => self.record_result(call, false, "There is no workspace to look at."),
            }
        }
    }

    fn run_own_call(&mut self, call: &ConversationCall) -> ToolCallEnd {
        if let Some(problem) = &call.problem {
            return ToolCallEnd::refused(format!("Not run, because {problem}."));
        }
        let name = PlanningToolName::from(call.tool.as_str());
        let watch = trace::ToolTraceTimer::start(&self.talk, name.clone(), &self.planner.session);
        let arguments = &call.arguments;
        let outcome = match call.tool.as_str() {
            ELICIT => self.ask_person(call),
            FACT => self.record_facts(arguments),
            PATTERN => self.select_pattern(arguments),
            NODES => self.generate_nodes(arguments),
            LINKS => self.resolve_links(arguments),
            ROADMAP => self.build_roadmap(arguments),
            SCHEDULE => self.generate_schedule(arguments),
            VALIDATE => self.validate_draft(),
            IDEAS => self.offer_ideas(arguments),
            OPTIONS => self.craft_options(arguments),
            PREFERENCE => self.probe_preference(call),
            PORTFOLIO => self.probe_portfolio(),
            SUMMARIZE => self.summarize_by_model(arguments),
            READ_RESULT => self.read_result_again(arguments),
            HAND_IN => self.hand_in(arguments),
            other => ToolCallEnd::refused(format!("There is no tool \"{other}\" in this stage.")),
        };
        if PlanningToolName::KNOWN.contains(&name) {
            let told = outcome.text.lines().next().unwrap_or_default().to_owned();
            let ended =
                if outcome.ok { ControllerOutcome::Success } else { ControllerOutcome::ToolError };
            let traced = watch.finish(StageResult::new(ended), None, vec![told]);
            for event in traced.events {
                self.record(event);
            }
        }
        outcome
    }

    fn read_result_again(&self, arguments: &Value) -> ToolCallEnd {
        let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
        let talk = self.talk.conversation.as_deref();
        match talk.and_then(|talk| read_item(talk, id)) {
            Some(text) => ToolCallEnd::done(text),
            None => ToolCallEnd::refused(format!("Not run, because there is no result \"{id}\".")),
        }
    }

    /// Puts questions to the person; the stage pauses for the answers.
    pub(super) fn ask_person(&mut self, call: &ConversationCall) -> ToolCallEnd {
        let allowed = questions_allowed(&self.talk).min(MOST_QUESTIONS);
        let asked = call.arguments.get("questions").and_then(Value::as_array);
        let asked = asked.map(Vec::as_slice).unwrap_or_default();
        if allowed == 0 {
            return ToolCallEnd::refused(
                "Not asked: no more questions are allowed. Assume what you must, and say so.",
            );
        }
        if asked.is_empty() || asked.len() > allowed {
            return ToolCallEnd::refused(format!(
                "Not asked: give 1 to {allowed} questions, the most important ones."
            ));
        }
        let questions: Vec<PlanQuestion> = (1..)
            .zip(asked)
            .map(|(number, question)| self.read_question(call.number, number, question))
            .collect();
        let end = StageResult::new(ControllerOutcome::NeedsClarification)
            .with_event(PlanningEvent::QuestionsFound { questions, sketch: None });
        ToolCallEnd { end: Some(end), ..ToolCallEnd::done("The person is asked.") }
    }

    fn read_question(&self, call: u32, number: usize, question: &Value) -> PlanQuestion {
        let text = |name: &str| {
            let text = question.get(name).and_then(Value::as_str).unwrap_or_default();
            self.client.redactor.redact(&planwright_text::clean_line(text.trim())).into_owned()
        };
        let choices = question.get("choices").and_then(Value::as_array).into_iter().flatten();
        let choices = choices.filter_map(Value::as_str).take(MOST_CHOICES).map(|answer| {
            let answer = planwright_text::clean_line(answer.trim()).into_owned();
            QuestionChoice { answer, effect: String::new() }
        });
        PlanQuestion {
            key: question_key(call, number),
            text: text("question"),
            // Both stand inside our sentences.
            assumed: text("assumed").trim_end_matches('.').to_owned(),
            changes: end_sentence(text("why")),
            choices: choices.collect(),
        }
    }

    fn record_facts(&mut self, arguments: &Value) -> ToolCallEnd {
        let given = arguments.get("facts").and_then(Value::as_array);
        let today = self.planner.local_date(self.now);
        let (mut lines, mut ok) = (Vec::new(), true);
        for (number, value) in (1..).zip(given.into_iter().flatten()) {
            match self.record_one_fact(value) {
                Ok((fact, replaced)) => {
                    let read = fact.reading.map_or("kept as words".to_owned(), |reading| {
                        format!("read as \"{}\"", reading.describe(today))
                    });
                    let instead = describe_replaced(&replaced);
                    lines.push(format!("fact {}: \"{}\": {read}{instead}", fact.id, fact.text));
                }
                Err(why) => {
                    ok = false;
                    lines.push(format!("item {number} not recorded: {why}"));
                }
            }
        }
        ToolCallEnd { ok, text: lines.join("\n"), end: None }
    }

    /// Keeps one fact; the numbers of those that it takes the place of come with it.
    fn record_one_fact(&mut self, value: &Value) -> Result<(Fact, Vec<u32>), String> {
        let written = WrittenFact::from_value(value)?;
        let talk = self.talk.conversation.clone();
        let was_read = |path: &str| {
            talk.as_deref().is_some_and(|talk| {
                talk.finished_calls().any(|(call, ok, text)| {
                    let looked = ok && !is_own_tool(&call.tool);
                    looked && (text.contains(path) || call.arguments.to_string().contains(path))
                })
            })
        };
        let (events, fact) = fact_events(&self.talk, &written, &was_read)?;
        let mut replaced = Vec::new();
        for event in events {
            if let FactEvent::Withdrawn { id, .. } = &event {
                replaced.push(*id);
            }
            self.record(Event::Fact(event));
        }
        self.follow_fact(&fact, &replaced);
        Ok((fact, replaced))
    }

    /// Takes a fact into the limits of the plan. What a withdrawn one did to them is undone.
    fn follow_fact(&mut self, fact: &Fact, replaced: &[u32]) {
        let mut context = self.planner.plan_context(&self.talk, self.now);
        let before = context.clone();
        let was_read =
            |id: &u32| self.talk.facts.find(*id).is_some_and(|fact| fact.reading.is_some());
        if replaced.iter().any(was_read) {
            context = self.context_from_facts(&before);
        } else if let Some(reading) = &fact.reading {
            let said = self.talk.facts.active().filter_map(|fact| fact.reading.as_ref());
            apply_beside(&mut context, reading, said);
        }
        if context != before {
            self.record(PlanningEvent::ContextSet { context: Arc::new(context) });
        }
    }

    /// What the rules find in the draft as it is.
    fn validate_draft(&mut self) -> ToolCallEnd {
        if self.talk.outline.is_none() {
            return ToolCallEnd::refused("There is no plan yet.");
        }
        let stage = self.talk.place.state.drafted_stage().unwrap_or(Stage::Outline);
        let found = self.findings(stage.min(Stage::Roadmap));
        if found.is_empty() {
            return ToolCallEnd::done("No rule is broken.");
        }
        let serious = found.iter().filter(|found| is_serious(found)).count();
        ToolCallEnd::done(format!(
            "{serious} to fix, {} warnings:\n{}",
            found.len() - serious,
            describe_findings(&found)
        ))
    }
}

/// Which facts no longer apply, after a reading.
fn describe_replaced(replaced: &[u32]) -> String {
    match replaced {
        [] => String::new(),
        [one] => format!("; fact {one} no longer applies"),
        many => {
            let many: Vec<String> = many.iter().map(u32::to_string).collect();
            format!("; facts {} no longer apply", many.join(", "))
        }
    }
}

/// Ends words with a full stop, unless they end a sentence already.
fn end_sentence(mut text: String) -> String {
    if text.ends_with(|last: char| last.is_alphanumeric() || last == ')') {
        text.push('.');
    }
    text
}
