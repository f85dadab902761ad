//! The tactical tier: asks for one decision at a time, rules on it, has it done, and takes notice of what came of it.

use planwright_drafting::executor::ExecutorRules as _;
use serde_json::{Value, json};

use super::asking::{Answered, Who};
use super::choosing::{DONE, ESCALATE, Tools};
use super::docs::{self, context_doc, results_doc, room, room_beside, state_doc, task_doc};
use super::offers::Evidence;
use super::run::{Run, capped};
use planwright_drafting::executor::{
    Bounds, ExecutorAction, ExecutorDecision, Local, Move, Prdv, Ruling, Step, TaskType,
};
use planwright_llm::{GenerateRequest, ToolChoice};
use planwright_model::agent_work::{Ended, Planned, Purpose, Work};
use planwright_model::{Category, Failure};

/// How a round of the executor ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RoundEnd {
    Came(Ended),
    Failed(Failure),
}

impl RoundEnd {
    pub(super) fn done(answer: impl Into<String>) -> Self {
        Self::Came(Ended::Done { answer: answer.into() })
    }

    pub(super) fn escalated(why: impl Into<String>) -> Self {
        Self::Came(Ended::Escalated { why: why.into() })
    }
}

/// The most calls that are taken from one answer.
const CALLS: usize = 32;

impl Run<'_> {
    /// Goes on until the steps are done, the executor is stuck, or the attempt is over.
    pub(super) async fn round(&self, kind: &TaskType, work: &mut Work) -> RoundEnd {
        let (open, unnoticed) = {
            let mut progress = self.mouth.progress();
            (progress.open.clone(), progress.unnoticed.take())
        };
        if let Some(open) = open {
            let tools = self.tools(kind);
            if let Some(end) = self.redo(kind, work, &tools, open).await {
                return end;
            }
        } else if let Some(unnoticed) = unnoticed {
            let tools = self.tools(kind);
            if let Some(end) = self.catch_up(kind, work, &tools, unnoticed).await {
                return end;
            }
        }
        loop {
            if self.cancel.is_cancelled() {
                return RoundEnd::Failed(cancelled());
            }
            if let Some(step) = work.next_check(kind) {
                self.check(kind, work, step);
                self.save(work);
                if work.next_check(kind) == Some(step) {
                    return RoundEnd::escalated(format!("the step {} failed", step.name));
                }
                continue;
            }
            if work.state.is_complete() {
                let words = kind.steps.last().filter(|step| step.local == Some(Local::Think));
                let answer = words
                    .and_then(|step| work.state.step_results.get(&step.name)?.as_str())
                    .unwrap_or_default()
                    .to_owned();
                self.executor_says(ExecutorAction::Done, work, "all steps are done");
                return RoundEnd::done(answer);
            }
            let tools = self.tools(kind);
            if let Some(end) = self.nothing_fits(kind, work, &tools) {
                return end;
            }
            if let Some(end) = self.turn(kind, work, &tools).await {
                return end;
            }
            self.save(work);
        }
    }

    fn tools(&self, kind: &TaskType) -> Tools {
        Tools::of(self.kit, self.job, kind, self.role_tools.as_deref())
    }

    /// A step that no tool can do leads nowhere.
    fn nothing_fits(&self, kind: &TaskType, work: &Work, tools: &Tools) -> Option<RoundEnd> {
        let step = kind.step(work.state.next()?)?;
        if step.local.is_some() || !tools.for_step(step, &self.job.affinity).is_empty() {
            return None;
        }
        let left_out: Vec<String> = tools
            .left_out
            .iter()
            .filter(|(tool, _)| step.takes(tool))
            .map(|(tool, why)| format!("{tool}: {why}"))
            .collect();
        let why = if left_out.is_empty() {
            format!("no tool is there for the step {}", step.name)
        } else {
            format!("no tool for the step {}: {}", step.name, left_out.join(", "))
        };
        if self.job.task.tool_affinity.is_empty() && !self.is_offline(Who::Planner) {
            self.executor_says(ExecutorAction::Escalate, work, &why);
            return Some(RoundEnd::escalated(why));
        }
        Some(RoundEnd::Failed(Failure::new("no_suitable_tool", Category::Critical, why)))
    }

    /// One decision and what follows from it.
    async fn turn(&self, kind: &TaskType, work: &mut Work, tools: &Tools) -> Option<RoundEnd> {
        let (words, wishes) = match self.decide(kind, work, tools).await {
            Ok(decided) => decided,
            Err(failure) => return Some(RoundEnd::Failed(failure)),
        };
        for wish in wishes {
            let bounds = self.bounds();
            let ruling = work.rule(kind, &wish, |name| tools.facts(name), &bounds);
            self.say_ruling(work, &wish, &ruling, &words);
            self.note_use(&wish, &ruling);
            match ruling {
                Ruling::Run(planned) => {
                    let looks = planned.purpose == Purpose::Lookup;
                    let thoughts = work.thoughts_ahead(kind);
                    if !looks && !words.trim().is_empty() && comes_before(kind, &thoughts, &planned)
                    {
                        work.think(&thoughts, &words);
                    }
                    if let Some(end) = self.act(kind, work, tools, planned).await {
                        return Some(end);
                    }
                    if !looks {
                        return None;
                    }
                    self.save(work);
                }
                Ruling::Instead { step, .. } => {
                    return self.instead(kind, work, tools, &step).await;
                }
                Ruling::Thought { steps } => {
                    work.think(&steps, &words);
                    return None;
                }
                Ruling::Reject { .. } => return None,
                Ruling::Done { answer } => {
                    let thoughts = work.thoughts_ahead(kind);
                    work.think(&thoughts, &answer);
                    return Some(RoundEnd::done(answer));
                }
                Ruling::Escalate { why } => return Some(RoundEnd::escalated(why)),
                Ruling::Cap { cap: "max_steps", why } if !kind.until_done => {
                    return Some(RoundEnd::escalated(why));
                }
                Ruling::Cap { why, .. } => return Some(RoundEnd::Failed(capped(&why))),
            }
        }
        None
    }

    /// Whether an answer led somewhere. Being sent back to the planner against the model's own wish is no progress.
    fn note_use(&self, wish: &Move, ruling: &Ruling) {
        match ruling {
            Ruling::Reject { .. } => self.asker.pace.note_unusable(),
            Ruling::Escalate { .. } if !matches!(wish, Move::Escalate { .. }) => {
                self.asker.pace.note_unusable();
            }
            _ => self.asker.pace.note_usable(),
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            react_max_iterations: self.kit.limits.react_max_iterations,
            lookups_per_step: self.kit.limits.lookups_per_step,
            granted: self.job.granted,
        }
    }

    /// Asks the model what comes next: its words, and what it wants.
    async fn decide(
        &self,
        kind: &TaskType,
        work: &mut Work,
        tools: &Tools,
    ) -> Result<(String, Vec<Move>), Failure> {
        self.summarise_context(kind, work).await;
        let state = self.state_value(kind, work, tools, "decision");
        let (mut request, fragments) = self.prompt(kind, work, &state);
        request.tools = tools.specs();
        let answered = match self.ask(Who::Executor, "decision", &request).await {
            Ok(answered) => answered,
            Err(error) if error.code == "invalid_output" => {
                return Ok((String::new(), vec![Move::Unusable { why: error.message }]));
            }
            Err(error) if error.is_cancelled() => return Err(cancelled()),
            Err(error) => return Err(self.failed(&error)),
        };
        let prdv =
            work.state.next().and_then(|step| kind.step(step)).map_or(Prdv::Plan, |s| s.prdv);
        let wishes = wishes(&answered);
        let aloud = if answered.text.trim().is_empty() { "(no words)" } else { &answered.text };
        self.think_aloud(aloud, &answered, &fragments, prdv);
        Ok((answered.text, wishes))
    }

    /// The prompt of one decision, with what had to be shortened said.
    pub(super) fn prompt(
        &self,
        kind: &TaskType,
        work: &Work,
        state: &Value,
    ) -> (GenerateRequest, Vec<String>) {
        let recipe = self.kit.recipes.or_usual(&kind.recipe);
        let context_room = room(recipe, "context");
        let mut parts = super::run::docs([
            ("task", task_doc(self.job, &work.goals)),
            ("state", state_doc(state)),
            ("context", context_doc(self.job, work.context_summary.as_deref(), context_room)),
        ]);
        let left = room_beside(recipe, "results", &parts);
        let older = self.kit.limits.result_char_limit;
        parts.insert("results", results_doc(&self.mouth.progress(), left, older));
        let assembled = self.kit.assemble(recipe, &self.mouth.role, &parts);
        self.tell_short(&assembled.compacted);
        (assembled.request, assembled.fragments)
    }

    /// What earlier tasks brought is shortened by a model once, where it would not fit.
    async fn summarise_context(&self, kind: &TaskType, work: &mut Work) {
        let most = room(self.kit.recipes.or_usual(&kind.recipe), "context");
        let size = docs::context_size(self.job);
        if size <= most || work.context_summary.is_some() || self.is_offline(Who::Summarizer) {
            return;
        }
        let Some(prompt) = self.kit.prompts.get("summarizer.md") else { return };
        let whole = context_doc(self.job, None, size + 200);
        let wanted = format!("Shorten this to {} tokens.\n{whole}", most.saturating_sub(80));
        let mut request = GenerateRequest::new(vec![
            planwright_llm::Message::system(prompt.text.clone()),
            planwright_llm::Message::user(wanted),
        ]);
        request.max_output_tokens = u32::try_from(most).ok();
        // Where nobody can shorten it well, it is cut instead.
        if let Ok(answered) = self.ask(Who::Summarizer, "summary", &request).await {
            work.context_summary = Some(answered.text);
            self.tell_short(&[planwright_drafting::executor::recipe::Compacted {
                part: "context".to_owned(),
                tokens: size,
                kept: most,
            }]);
            self.save(work);
        }
    }

    /// The state as the model reads it. Without a model it also says what could be done by rule.
    pub(super) fn state_value(
        &self,
        kind: &TaskType,
        work: &Work,
        tools: &Tools,
        ask: &str,
    ) -> Value {
        let next = work.state.next().and_then(|step| kind.step(step));
        let bounds = self.bounds();
        let mut state = json!({
            "ask": ask,
            "task_type": work.state.task_type,
            "current_step": work.state.current_step,
            "completed_steps": work.state.completed_steps,
            "pending_steps": work.state.pending_steps,
            "next": next.map(|step| json!({
                "step": step.name,
                "tools": if step.tools.is_empty() { Vec::new() } else { tools.for_step(step, &self.job.affinity) },
                "local": step.local,
            })),
            "calls_left": (work.state.max_steps + bounds.granted).saturating_sub(work.calls),
            "iterations_left":
                (bounds.react_max_iterations + bounds.granted).saturating_sub(work.iteration),
            "feedback": work.feedback,
        });
        if self.is_offline(Who::Executor) {
            let evidence = Evidence::of(self.job, work, &self.mouth.progress());
            state["words"] = json!(evidence.words());
            state["searched"] = json!(work.calls > 0);
            state["offer"] = json!(next.and_then(|step| self.offer(step, tools, &evidence)));
        }
        state
    }

    /// The first tool for a step whose arguments are known without a model.
    fn offer(&self, step: &Step, tools: &Tools, evidence: &Evidence) -> Option<Value> {
        tools.for_step(step, &self.job.affinity).into_iter().find_map(|tool| {
            let args = evidence.args(step, &tool)?;
            Some(json!({ "tool": tool, "args": args }))
        })
    }

    /// The loop guard at work: the model is asked for this step alone.
    async fn instead(
        &self,
        kind: &TaskType,
        work: &mut Work,
        tools: &Tools,
        name: &str,
    ) -> Option<RoundEnd> {
        let step = kind.step(name)?;
        work.feedback = Some(format!("Enough was searched for; do the step {name} now."));
        if step.local == Some(Local::Think) {
            work.stop_looking(kind);
            let state = self.state_value(kind, work, tools, "words");
            let (request, fragments) = self.prompt(kind, work, &state);
            let answered = match self.ask(Who::Executor, "instead", &request).await {
                Ok(answered) => answered,
                Err(error) => return Some(RoundEnd::Failed(self.failed(&error))),
            };
            self.think_aloud(&answered.text, &answered, &fragments, step.prdv);
            let thoughts = work.thoughts_ahead(kind);
            work.think(&thoughts, &answered.text);
            return None;
        }
        let Some((tool, args)) = self.forced(kind, work, tools, step).await else {
            let why = format!("the step {name} is due and its arguments could not be had");
            self.executor_says(ExecutorAction::Escalate, work, &why);
            return Some(RoundEnd::escalated(why));
        };
        if work.calls >= work.state.max_steps + self.job.granted {
            return Some(RoundEnd::escalated(format!("no call is left for {name}")));
        }
        let planned = Planned { step: name.to_owned(), tool, args, purpose: Purpose::Step };
        self.act(kind, work, tools, planned).await
    }

    /// Tool and arguments for a step that must be done now: from the model, else from what is known.
    async fn forced(
        &self,
        kind: &TaskType,
        work: &Work,
        tools: &Tools,
        step: &Step,
    ) -> Option<(String, Value)> {
        let usable = tools.for_step(step, &self.job.affinity);
        let tool = usable.first()?;
        let mut state = self.state_value(kind, work, tools, "decision");
        state["next"] = json!({ "step": step.name, "tools": [tool], "local": null });
        let (mut request, fragments) = self.prompt(kind, work, &state);
        request.tools = tools.spec(tool).cloned().into_iter().collect();
        request.tool_choice = ToolChoice::Named(tool.clone());
        if let Ok(answered) = self.ask(Who::Executor, "instead", &request).await
            && let Some(call) = answered.calls.iter().find(|call| call.name == *tool)
        {
            let args = call.arguments.clone();
            let aloud = format!("{} {}", step.name, answered.text);
            self.think_aloud(aloud.trim(), &answered, &fragments, step.prdv);
            return Some((tool.clone(), args));
        }
        let evidence = Evidence::of(self.job, work, &self.mouth.progress());
        usable.iter().find_map(|tool| Some((tool.clone(), evidence.args(step, tool)?)))
    }

    fn say_ruling(&self, work: &Work, wish: &Move, ruling: &Ruling, words: &str) {
        let reasoning = words.trim();
        let said = match ruling {
            Ruling::Run(planned) => {
                let Planned { step, tool, args, .. } = planned;
                json!(
                    ExecutorDecision::call(step, tool, args.clone(), reasoning).within(&work.state)
                )
            }
            Ruling::Instead { step, why } => json!({
                "_type": "LOOP_GUARD", "action": "loop_guard", "step": step, "reasoning": why,
                "replaced": match wish {
                    Move::Call { tool, args, .. } => json!({ "name": tool, "args": args }),
                    _ => Value::Null,
                },
            }),
            Ruling::Reject { code, why } => json!({
                "_type": "REJECTED", "action": "reject", "code": code, "reasoning": why,
            }),
            Ruling::Thought { .. } => return,
            Ruling::Done { .. } => {
                json!(ExecutorDecision::new(ExecutorAction::Done, reasoning).within(&work.state))
            }
            Ruling::Escalate { why } | Ruling::Cap { why, .. } => {
                json!(ExecutorDecision::new(ExecutorAction::Escalate, why).within(&work.state))
            }
        };
        self.mouth.decided(said);
    }
}

/// Whether steps of thought lead up to the step that is called for.
fn comes_before(kind: &TaskType, thoughts: &[String], planned: &Planned) -> bool {
    let place = |name: &str| kind.steps.iter().position(|step| step.name == name);
    thoughts.iter().all(|thought| place(thought) < place(&planned.step))
}

/// What an answer wants.
fn wishes(answered: &Answered) -> Vec<Move> {
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    if !answered.calls.is_empty() {
        let wish = |call: &planwright_llm::ToolCall| match call.name.as_str() {
            DONE => Move::Done { answer: text(&call.arguments, "answer") },
            ESCALATE => Move::Escalate { why: text(&call.arguments, "issue") },
            tool => Move::Call { step: None, tool: tool.to_owned(), args: call.arguments.clone() },
        };
        return answered.calls.iter().take(CALLS).map(wish).collect();
    }
    let Some(decision) = ExecutorDecision::in_text(&answered.text) else {
        return vec![Move::Say { text: answered.text.clone() }];
    };
    vec![match (decision.action, decision.tool) {
        (ExecutorAction::CallTool, Some(tool)) => {
            Move::Call { step: decision.step, tool: tool.name, args: tool.args }
        }
        (ExecutorAction::CallTool, None) => {
            Move::Unusable { why: "CALL_TOOL without a tool".to_owned() }
        }
        (ExecutorAction::Done, _) => Move::Done { answer: decision.reasoning },
        (ExecutorAction::Escalate, _) => Move::Escalate { why: decision.reasoning },
    }]
}

pub(super) fn cancelled() -> Failure {
    Failure::new("cancelled", Category::Critical, "the task was cancelled")
}
