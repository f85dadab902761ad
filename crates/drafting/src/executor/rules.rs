//! Decides on a proposal: whether a call is made, replaced, rejected, or ends the task.

use serde_json::{Value, json};

use super::{LocalStep, TaskType, TaskTypeStep};
use planwright_model::Digest;
use planwright_model::agent_work::{AgentWork, CallPurpose, PlannedCall};

/// The maximum number of consecutive searches while something remains to be produced.
pub const SEARCHES_IN_A_ROW: u32 = 2;

/// The number of hits that are remembered to detect repetition.
const MAX_HITS: usize = 200;
/// General search tools.
pub const SEARCH_LIKE: [&str; 2] = ["internet.research", "web.search"];

/// What a model proposes.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelProposal {
    /// A call, for a named step or for the one it fits.
    Call {
        step: Option<String>,
        tool: String,
        args: Value,
    },
    /// Text only.
    Text {
        text: String,
    },
    Done {
        answer: String,
    },
    Escalate {
        why: String,
    },
    /// An unusable answer.
    Unusable {
        why: String,
    },
}

/// What the rules need to know about a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolFacts {
    pub read_only: bool,
    pub search_like: bool,
}

/// The limits that are not part of the task type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutorLimits {
    pub react_max_iterations: u32,
    pub lookups_per_step: u32,
    /// Additional iterations that the person granted at a cap.
    pub granted: u32,
}

impl Default for ExecutorLimits {
    fn default() -> Self {
        Self { react_max_iterations: 10, lookups_per_step: 12, granted: 0 }
    }
}

/// The decision on a proposal.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecutorRuling {
    Run(PlannedCall),
    /// The loop guard: this step is done instead of the requested one.
    Instead {
        step: String,
        why: String,
    },
    /// Text that is accepted as the result of these steps.
    Thought {
        steps: Vec<String>,
    },
    Reject {
        code: &'static str,
        why: String,
    },
    Done {
        answer: String,
    },
    /// Returns to the planner.
    Escalate {
        why: String,
    },
    /// A limit is reached; the person may grant more.
    Cap {
        cap: &'static str,
        why: String,
    },
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedCall {
    pub ok: bool,
    /// The stored result of the step.
    pub result: Value,
    /// Where things were found.
    pub sources: Vec<String>,
    /// What was found, to detect repetition.
    pub hits: Vec<String>,
    /// A retry may succeed.
    pub transient: bool,
    /// What a further attempt must know.
    pub feedback: Option<String>,
}

/// Tool and arguments: two calls with the same identity are the same call.
pub fn call_identity(tool: &str, args: &Value) -> Digest {
    Digest::from_json(&json!({ "tool": tool, "args": args }))
}

/// The rules that keep the work of a task within its type and limits.
pub trait ExecutorRules {
    /// Rules on a proposal. `facts` contains the tools that may be used; nothing else can be called.
    fn rule_on_proposal(
        &mut self,
        kind: &TaskType,
        proposal: &ModelProposal,
        facts: impl Fn(&str) -> Option<ToolFacts>,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling;

    /// Returns the thinking steps at the start of the list.
    fn leading_thought_steps(&self, kind: &TaskType) -> Vec<String>;

    /// Records text as the result of thinking steps.
    fn record_thoughts(&mut self, steps: &[String], words: &str);

    /// Records the result of a call.
    fn observe_call(
        &mut self,
        kind: &TaskType,
        planned: &PlannedCall,
        facts: ToolFacts,
        seen: ObservedCall,
    );

    /// Ends the search steps.
    fn finish_search_steps(&mut self, kind: &TaskType);

    /// Records a check that needed no tool.
    fn record_check(&mut self, kind: &TaskType, step: &str, outcome: Result<Value, String>);

    /// Returns the next check that needs neither tool nor model.
    fn next_check<'k>(&self, kind: &'k TaskType) -> Option<&'k TaskTypeStep>;
}

impl ExecutorRules for AgentWork {
    fn rule_on_proposal(
        &mut self,
        kind: &TaskType,
        proposal: &ModelProposal,
        facts: impl Fn(&str) -> Option<ToolFacts>,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling {
        let ruling = match proposal {
            ModelProposal::Call { step, tool, args } => match facts(tool) {
                Some(facts) => self.rule_call(kind, step.as_deref(), tool, args, facts, bounds),
                None => reject_proposal(
                    "unknown_tool",
                    format!("there is no tool {tool} for this task"),
                ),
            },
            ModelProposal::Text { text } => self.rule_text(kind, text),
            ModelProposal::Done { answer } => self.rule_done(kind, answer),
            ModelProposal::Escalate { why } => ExecutorRuling::Escalate { why: why.clone() },
            ModelProposal::Unusable { why } => reject_proposal("unusable", why.clone()),
        };
        let ruling = match ruling {
            ExecutorRuling::Reject { why, .. } if self.rejected => {
                ExecutorRuling::Escalate { why: format!("turned down twice: {why}") }
            }
            other => other,
        };
        self.charge_iteration(ruling, bounds)
    }

    fn leading_thought_steps(&self, kind: &TaskType) -> Vec<String> {
        let thinks = |name: &&String| {
            kind.find_step(name).is_some_and(|step| step.local == Some(LocalStep::Think))
        };
        self.state.pending_steps.iter().take_while(thinks).cloned().collect()
    }

    fn record_thoughts(&mut self, steps: &[String], words: &str) {
        for step in steps {
            self.advance_step(step, Value::String(words.to_owned()));
        }
    }

    fn observe_call(
        &mut self,
        kind: &TaskType,
        planned: &PlannedCall,
        facts: ToolFacts,
        seen: ObservedCall,
    ) {
        self.feedback = seen.feedback;
        if facts.search_like {
            self.searches_in_a_row += 1;
        }
        if !seen.ok && !seen.transient {
            self.failed_calls.insert(call_identity(&planned.tool, &planned.args));
        }
        if planned.purpose == CallPurpose::Lookup {
            self.lookups += 1;
        } else {
            self.calls += 1;
            *self.step_calls.entry(planned.step.clone()).or_insert(0) += 1;
            if !facts.search_like {
                self.searches_in_a_row = 0;
            }
            self.conclude_step(kind, planned, seen.ok, seen.result);
        }
        let news = self.record_finds(seen.sources, seen.hits);
        if let Some(enough) = kind.enough.filter(|_| facts.read_only) {
            self.nothing_new = if news { 0 } else { self.nothing_new + 1 };
            if self.sources.len() as u32 >= enough.sources || self.nothing_new >= enough.nothing_new
            {
                self.finish_search_steps(kind);
            }
        }
    }

    fn finish_search_steps(&mut self, kind: &TaskType) {
        let looking: Vec<String> = kind
            .steps
            .iter()
            .filter(|step| step.local.is_none() && !step.produces)
            .filter(|step| self.state.is_step_pending(&step.name))
            .map(|step| step.name.clone())
            .collect();
        for step in looking {
            self.advance_step(&step, Value::String("enough was found".to_owned()));
        }
    }

    fn record_check(&mut self, kind: &TaskType, step: &str, outcome: Result<Value, String>) {
        match outcome {
            Ok(result) => self.advance_step(step, result),
            Err(why) => {
                let again =
                    kind.find_step(step).map(|step| step.on_failure.clone()).unwrap_or_default();
                self.state.requeue_steps(&again, &kind.step_names());
                self.feedback = Some(why);
            }
        }
    }

    fn next_check<'k>(&self, kind: &'k TaskType) -> Option<&'k TaskTypeStep> {
        kind.find_step(self.state.next_step()?)
            .filter(|step| step.local == Some(LocalStep::SkillFile))
    }
}

/// The individual rules of [`ExecutorRules`].
trait RuleParts {
    /// Everything except a lookup, an end or an escalation costs an iteration.
    fn charge_iteration(
        &mut self,
        ruling: ExecutorRuling,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling;

    fn rule_call(
        &self,
        kind: &TaskType,
        named: Option<&str>,
        tool: &str,
        args: &Value,
        facts: ToolFacts,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling;

    fn step_attempts(&self, step: &str) -> u32;

    fn plan_call(
        &self,
        step: &TaskTypeStep,
        tool: &str,
        args: &Value,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling;

    /// Returns the step that a call belongs to.
    fn locate_step<'k>(
        &self,
        kind: &'k TaskType,
        named: Option<&str>,
        tool: &str,
        facts: ToolFacts,
    ) -> CallPlacement<'k>;

    /// A read-only call is free, up to a limit per step.
    fn rule_lookup(
        &self,
        kind: &TaskType,
        step: &TaskTypeStep,
        tool: &str,
        args: &Value,
        facts: ToolFacts,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling;

    /// A third consecutive search is replaced by the step that produces something.
    fn guard_searches(
        &self,
        kind: &TaskType,
        tool: &str,
        facts: ToolFacts,
    ) -> Option<ExecutorRuling>;

    /// A step that was done often enough is replaced by another, or escalates to the planner.
    fn rule_repetition(
        &self,
        kind: &TaskType,
        step: &TaskTypeStep,
        tool: &str,
        facts: ToolFacts,
    ) -> ExecutorRuling;

    /// Text is the result of the next thinking steps; without any it ends the task.
    fn rule_text(&self, kind: &TaskType, text: &str) -> ExecutorRuling;

    fn rule_done(&self, kind: &TaskType, answer: &str) -> ExecutorRuling;

    fn advance_step(&mut self, step: &str, result: Value);

    /// Records what was found; returns true if any of it is new.
    fn record_finds(&mut self, sources: Vec<String>, hits: Vec<String>) -> bool;

    fn conclude_step(&mut self, kind: &TaskType, planned: &PlannedCall, ok: bool, result: Value);
}

impl RuleParts for AgentWork {
    fn charge_iteration(
        &mut self,
        ruling: ExecutorRuling,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling {
        let free = match &ruling {
            ExecutorRuling::Run(planned) => planned.purpose == CallPurpose::Lookup,
            ExecutorRuling::Done { .. }
            | ExecutorRuling::Escalate { .. }
            | ExecutorRuling::Cap { .. } => true,
            ExecutorRuling::Instead { .. }
            | ExecutorRuling::Thought { .. }
            | ExecutorRuling::Reject { .. } => false,
        };
        let most = bounds.react_max_iterations.saturating_add(bounds.granted);
        if !free && self.iteration >= most {
            let why = format!("it has had its {most} iterations");
            return ExecutorRuling::Cap { cap: "react_max_iterations", why };
        }
        self.rejected = matches!(ruling, ExecutorRuling::Reject { .. });
        if let ExecutorRuling::Reject { why, .. } = &ruling {
            self.feedback = Some(format!("Turned down: {why}"));
        }
        if !free {
            self.iteration += 1;
        }
        ruling
    }

    fn rule_call(
        &self,
        kind: &TaskType,
        named: Option<&str>,
        tool: &str,
        args: &Value,
        facts: ToolFacts,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling {
        if self.failed_calls.contains(&call_identity(tool, args)) {
            return reject_proposal(
                "same_args",
                format!("{tool} already failed with the same arguments; change them"),
            );
        }
        let step = match self.locate_step(kind, named, tool, facts) {
            CallPlacement::Step(step) => step,
            CallPlacement::Within(step) => {
                return self.rule_lookup(kind, step, tool, args, facts, bounds);
            }
            CallPlacement::Repeated(step) => return self.rule_repetition(kind, step, tool, facts),
            CallPlacement::Nowhere(why) => return reject_proposal("step_not_pending", why),
        };
        if let Some(instead) = self.guard_searches(kind, tool, facts) {
            return instead;
        }
        if step.most.is_some_and(|most| self.step_attempts(&step.name) >= most) {
            return self.rule_repetition(kind, step, tool, facts);
        }
        self.plan_call(step, tool, args, bounds)
    }

    fn step_attempts(&self, step: &str) -> u32 {
        self.step_calls.get(step).copied().unwrap_or(0)
    }

    fn plan_call(
        &self,
        step: &TaskTypeStep,
        tool: &str,
        args: &Value,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling {
        let most = self.state.max_steps.saturating_add(bounds.granted);
        if self.calls >= most {
            return ExecutorRuling::Cap {
                cap: "max_steps",
                why: format!("it has made its {most} calls"),
            };
        }
        ExecutorRuling::Run(PlannedCall {
            step: step.name.clone(),
            tool: tool.to_owned(),
            args: args.clone(),
            purpose: CallPurpose::Step,
        })
    }

    fn locate_step<'k>(
        &self,
        kind: &'k TaskType,
        named: Option<&str>,
        tool: &str,
        facts: ToolFacts,
    ) -> CallPlacement<'k> {
        let pending = |step: &&TaskTypeStep| self.state.is_step_pending(&step.name);
        let is_lookup = facts.read_only && !facts.search_like;
        let current = || kind.steps.iter().find(pending);
        // A search belongs to the search step, regardless of the step it was proposed for.
        let misplaced = |name: &&str| {
            let elsewhere = |step: &TaskTypeStep| !step.tools.is_empty() && step.accepts_tool(tool);
            let accepted = kind.find_step(name).is_some_and(|step| step.accepts_tool(tool));
            facts.search_like && !accepted && kind.steps.iter().any(elsewhere)
        };
        let named = named.filter(|name| !misplaced(name));
        if let Some(named) = named {
            return match kind.find_step(named) {
                Some(step) if pending(&step) && step.accepts_tool(tool) => {
                    CallPlacement::Step(step)
                }
                Some(step) if pending(&step) && facts.read_only => CallPlacement::Within(step),
                Some(step) if pending(&step) => {
                    CallPlacement::Nowhere(wrong_tool_message(step, tool))
                }
                Some(step) if step.on_repeat.is_some() && step.accepts_tool(tool) => {
                    CallPlacement::Repeated(step)
                }
                _ => CallPlacement::Nowhere(format!(
                    "{named} is not a step that is still to be done"
                )),
            };
        }
        if let Some(step) = kind.steps.iter().find(|step| pending(step) && step.accepts_tool(tool))
        {
            let open = step.tools.is_empty();
            return if open && is_lookup {
                CallPlacement::Within(step)
            } else {
                CallPlacement::Step(step)
            };
        }
        let done = kind.steps.iter().find(|step| !step.tools.is_empty() && step.accepts_tool(tool));
        match (done, current()) {
            (_, Some(current)) if is_lookup => CallPlacement::Within(current),
            (Some(done), _) if facts.search_like => CallPlacement::Repeated(done),
            (Some(done), _) => CallPlacement::Nowhere(format!("the step {} is done", done.name)),
            (None, Some(current)) if facts.read_only => CallPlacement::Within(current),
            (None, Some(current)) => CallPlacement::Nowhere(wrong_tool_message(current, tool)),
            (None, None) => CallPlacement::Nowhere("all steps are done".to_owned()),
        }
    }

    fn rule_lookup(
        &self,
        kind: &TaskType,
        step: &TaskTypeStep,
        tool: &str,
        args: &Value,
        facts: ToolFacts,
        bounds: &ExecutorLimits,
    ) -> ExecutorRuling {
        if let Some(instead) = self.guard_searches(kind, tool, facts) {
            return instead;
        }
        if self.lookups >= bounds.lookups_per_step {
            return reject_proposal(
                "lookups_used_up",
                format!("{} lookups were made for {}; go on with it", self.lookups, step.name),
            );
        }
        ExecutorRuling::Run(PlannedCall {
            step: step.name.clone(),
            tool: tool.to_owned(),
            args: args.clone(),
            purpose: CallPurpose::Lookup,
        })
    }

    fn guard_searches(
        &self,
        kind: &TaskType,
        tool: &str,
        facts: ToolFacts,
    ) -> Option<ExecutorRuling> {
        if !facts.search_like || self.searches_in_a_row < SEARCHES_IN_A_ROW {
            return None;
        }
        let why = format!("{tool} would be search number {}", self.searches_in_a_row + 1);
        Some(match kind.next_producing_step(&self.state) {
            Some(step) => ExecutorRuling::Instead { step: step.name.clone(), why },
            None => reject_proposal("loop_guard", format!("{why} in a row; use what was found")),
        })
    }

    fn rule_repetition(
        &self,
        kind: &TaskType,
        step: &TaskTypeStep,
        tool: &str,
        facts: ToolFacts,
    ) -> ExecutorRuling {
        let why = format!("{} was done already and {tool} would repeat it", step.name);
        let other = step.on_repeat.as_deref().filter(|other| self.state.is_step_pending(other));
        let producing = || kind.next_producing_step(&self.state).filter(|_| !step.produces);
        match other.or_else(|| Some(producing()?.name.as_str())) {
            Some(other) => ExecutorRuling::Instead { step: other.to_owned(), why },
            None if facts.read_only => reject_proposal("loop_guard", why),
            None => ExecutorRuling::Escalate {
                why: format!("{} was tried {} times", step.name, self.step_attempts(&step.name)),
            },
        }
    }

    fn rule_text(&self, kind: &TaskType, text: &str) -> ExecutorRuling {
        let steps = self.leading_thought_steps(kind);
        let last = steps.len() == self.state.pending_steps.len();
        if steps.is_empty() || last || text.trim().is_empty() {
            return self.rule_done(kind, text);
        }
        ExecutorRuling::Thought { steps }
    }

    fn rule_done(&self, kind: &TaskType, answer: &str) -> ExecutorRuling {
        let thoughts = self.leading_thought_steps(kind).len();
        let left = &self.state.pending_steps[thoughts..];
        if kind.until_done || left.is_empty() {
            return ExecutorRuling::Done { answer: answer.to_owned() };
        }
        reject_proposal("steps_pending", format!("still to be done: {}", left.join(", ")))
    }

    fn advance_step(&mut self, step: &str, result: Value) {
        if self.state.complete_step(step, result) {
            self.lookups = 0;
        }
    }

    fn record_finds(&mut self, sources: Vec<String>, hits: Vec<String>) -> bool {
        let mut news = false;
        for source in sources {
            news |= self.sources.insert(source);
        }
        for hit in hits {
            news |= self.hits.len() < MAX_HITS && self.hits.insert(hit);
        }
        news
    }

    fn conclude_step(&mut self, kind: &TaskType, planned: &PlannedCall, ok: bool, result: Value) {
        let Some(step) = kind.find_step(&planned.step) else { return };
        let pattern = kind.step_names();
        if !ok {
            self.state.requeue_steps(&step.on_failure, &pattern);
            return;
        }
        if kind.until_done {
            self.state.step_results.insert(step.name.clone(), result);
            return;
        }
        // The preceding thinking steps were done for this step.
        let before = self.leading_thought_steps(kind);
        let place = kind.steps.iter().position(|own| own.name == step.name).unwrap_or(0);
        for thought in before {
            if kind.steps.iter().take(place).any(|own| own.name == thought) {
                self.advance_step(
                    &thought,
                    Value::String("weighed with the step it led to".to_owned()),
                );
            }
        }
        self.advance_step(&step.name, result);
        if step.produces {
            // Calls that failed before may succeed now that something has changed.
            self.failed_calls.clear();
            // Earlier checks do not apply to the changed state.
            let later: Vec<String> = kind.steps[place + 1..]
                .iter()
                .filter(|own| self.state.is_step_completed(&own.name))
                .map(|own| own.name.clone())
                .collect();
            self.state.requeue_steps(&later, &pattern);
        }
    }
}

/// The step that a call belongs to.
enum CallPlacement<'k> {
    Step(&'k TaskTypeStep),
    /// A read-only call within this step.
    Within(&'k TaskTypeStep),
    Repeated(&'k TaskTypeStep),
    Nowhere(String),
}

fn reject_proposal(code: &'static str, why: String) -> ExecutorRuling {
    ExecutorRuling::Reject { code, why }
}

fn wrong_tool_message(step: &TaskTypeStep, tool: &str) -> String {
    if step.tools.is_empty() {
        return format!("{tool} does not do the step {}; say it in words", step.name);
    }
    format!("{tool} does not do the step {}; {} does", step.name, step.tools.join(" or "))
}
