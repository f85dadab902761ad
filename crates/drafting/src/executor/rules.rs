//! What becomes of a wish: whether a call is made, replaced, turned down, or ends the task.

use serde_json::{Value, json};

use super::{Local, Step, TaskType};
use planwright_model::Digest;
use planwright_model::agent_work::{Planned, Purpose, Work};

/// How many searches may follow each other while something is to be produced.
pub const SEARCHES_IN_A_ROW: u32 = 2;

/// How many finds are remembered to tell news from repetition.
const MOST_HITS: usize = 200;
/// Tools that search at large.
pub const SEARCH_LIKE: [&str; 2] = ["internet.research", "web.search"];

/// What a model wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// A call, for a step it names or for the one it fits.
    Call {
        step: Option<String>,
        tool: String,
        args: Value,
    },
    /// Words and nothing else.
    Say {
        text: String,
    },
    Done {
        answer: String,
    },
    Escalate {
        why: String,
    },
    /// Nothing that can be used.
    Unusable {
        why: String,
    },
}

/// What the rules need to know of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolFacts {
    pub read_only: bool,
    pub search_like: bool,
}

/// The limits that are not the task type's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub react_max_iterations: u32,
    pub lookups_per_step: u32,
    /// Further iterations that the person granted at a cap.
    pub granted: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { react_max_iterations: 10, lookups_per_step: 12, granted: 0 }
    }
}

/// What becomes of a wish.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    Run(Planned),
    /// The loop guard: this step is done instead of what was asked for.
    Instead {
        step: String,
        why: String,
    },
    /// Words that count as the result of these steps.
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
    /// Back to the planner.
    Escalate {
        why: String,
    },
    /// A limit is reached; the person may grant more.
    Cap {
        cap: &'static str,
        why: String,
    },
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    pub ok: bool,
    /// What is kept as the result of the step.
    pub result: Value,
    /// Where things were found.
    pub sources: Vec<String>,
    /// What was found, to tell news from repetition.
    pub hits: Vec<String>,
    /// It may well work if it is simply tried again.
    pub transient: bool,
    /// What a further attempt must know.
    pub feedback: Option<String>,
}

/// Tool and arguments: two calls with the same identity are the same call.
pub fn identity(tool: &str, args: &Value) -> Digest {
    Digest::of_json(&json!({ "tool": tool, "args": args }))
}

/// The rules that keep the work of a task within its type and bounds.
pub trait ExecutorRules {
    /// Rules on a wish. `facts` knows the tools that may be used; nothing else can be called.
    fn rule(
        &mut self,
        kind: &TaskType,
        wish: &Move,
        facts: impl Fn(&str) -> Option<ToolFacts>,
        bounds: &Bounds,
    ) -> Ruling;

    /// The steps of thought at the head of the list.
    fn thoughts_ahead(&self, kind: &TaskType) -> Vec<String>;

    /// Counts words as the result of steps of thought.
    fn think(&mut self, steps: &[String], words: &str);

    /// Takes notice of what came of a call.
    fn observe(&mut self, kind: &TaskType, planned: &Planned, facts: ToolFacts, seen: Observed);

    /// Ends the steps that look for more.
    fn stop_looking(&mut self, kind: &TaskType);

    /// Takes notice of a check that needed no tool.
    fn checked(&mut self, kind: &TaskType, step: &str, outcome: Result<Value, String>);

    /// The check that comes next and needs neither tool nor model.
    fn next_check<'k>(&self, kind: &'k TaskType) -> Option<&'k Step>;
}

impl ExecutorRules for Work {
    fn rule(
        &mut self,
        kind: &TaskType,
        wish: &Move,
        facts: impl Fn(&str) -> Option<ToolFacts>,
        bounds: &Bounds,
    ) -> Ruling {
        let ruling = match wish {
            Move::Call { step, tool, args } => match facts(tool) {
                Some(facts) => self.rule_call(kind, step.as_deref(), tool, args, facts, bounds),
                None => reject("unknown_tool", format!("there is no tool {tool} for this task")),
            },
            Move::Say { text } => self.rule_words(kind, text),
            Move::Done { answer } => self.rule_done(kind, answer),
            Move::Escalate { why } => Ruling::Escalate { why: why.clone() },
            Move::Unusable { why } => reject("unusable", why.clone()),
        };
        let ruling = match ruling {
            Ruling::Reject { why, .. } if self.rejected => {
                Ruling::Escalate { why: format!("turned down twice: {why}") }
            }
            other => other,
        };
        self.count(ruling, bounds)
    }

    fn thoughts_ahead(&self, kind: &TaskType) -> Vec<String> {
        let thinks =
            |name: &&String| kind.step(name).is_some_and(|step| step.local == Some(Local::Think));
        self.state.pending_steps.iter().take_while(thinks).cloned().collect()
    }

    fn think(&mut self, steps: &[String], words: &str) {
        for step in steps {
            self.advance(step, Value::String(words.to_owned()));
        }
    }

    fn observe(&mut self, kind: &TaskType, planned: &Planned, facts: ToolFacts, seen: Observed) {
        self.feedback = seen.feedback;
        if facts.search_like {
            self.searches_in_a_row += 1;
        }
        if !seen.ok && !seen.transient {
            self.failed_calls.insert(identity(&planned.tool, &planned.args));
        }
        if planned.purpose == Purpose::Lookup {
            self.lookups += 1;
        } else {
            self.calls += 1;
            *self.step_calls.entry(planned.step.clone()).or_insert(0) += 1;
            if !facts.search_like {
                self.searches_in_a_row = 0;
            }
            self.conclude_step(kind, planned, seen.ok, seen.result);
        }
        let news = self.remember(seen.sources, seen.hits);
        if let Some(enough) = kind.enough.filter(|_| facts.read_only) {
            self.nothing_new = if news { 0 } else { self.nothing_new + 1 };
            if self.sources.len() as u32 >= enough.sources || self.nothing_new >= enough.nothing_new
            {
                self.stop_looking(kind);
            }
        }
    }

    fn stop_looking(&mut self, kind: &TaskType) {
        let looking: Vec<String> = kind
            .steps
            .iter()
            .filter(|step| step.local.is_none() && !step.produces)
            .filter(|step| self.state.is_pending(&step.name))
            .map(|step| step.name.clone())
            .collect();
        for step in looking {
            self.advance(&step, Value::String("enough was found".to_owned()));
        }
    }

    fn checked(&mut self, kind: &TaskType, step: &str, outcome: Result<Value, String>) {
        match outcome {
            Ok(result) => self.advance(step, result),
            Err(why) => {
                let again = kind.step(step).map(|step| step.on_failure.clone()).unwrap_or_default();
                self.state.requeue(&again, &kind.pattern());
                self.feedback = Some(why);
            }
        }
    }

    fn next_check<'k>(&self, kind: &'k TaskType) -> Option<&'k Step> {
        kind.step(self.state.next()?).filter(|step| step.local == Some(Local::SkillFile))
    }
}

/// The parts of [`ExecutorRules`].
trait RuleParts {
    /// Everything but a lookup, an end or a way back costs an iteration.
    fn count(&mut self, ruling: Ruling, bounds: &Bounds) -> Ruling;

    fn rule_call(
        &self,
        kind: &TaskType,
        named: Option<&str>,
        tool: &str,
        args: &Value,
        facts: ToolFacts,
        bounds: &Bounds,
    ) -> Ruling;

    fn tries(&self, step: &str) -> u32;

    fn run(&self, step: &Step, tool: &str, args: &Value, bounds: &Bounds) -> Ruling;

    /// Which step a call belongs to.
    fn step_for<'k>(
        &self,
        kind: &'k TaskType,
        named: Option<&str>,
        tool: &str,
        facts: ToolFacts,
    ) -> Place<'k>;

    /// A call that only looks is free, up to a number for each step.
    fn look(
        &self,
        kind: &TaskType,
        step: &Step,
        tool: &str,
        args: &Value,
        facts: ToolFacts,
        bounds: &Bounds,
    ) -> Ruling;

    /// A third search in a row gives way to what is to be produced.
    fn guard(&self, kind: &TaskType, tool: &str, facts: ToolFacts) -> Option<Ruling>;

    /// A step that was done often enough gives way to another, or leads back to the planner.
    fn repeated(&self, kind: &TaskType, step: &Step, tool: &str, facts: ToolFacts) -> Ruling;

    /// Words count for the steps of thought that come next; where there are none they are the end.
    fn rule_words(&self, kind: &TaskType, text: &str) -> Ruling;

    fn rule_done(&self, kind: &TaskType, answer: &str) -> Ruling;

    fn advance(&mut self, step: &str, result: Value);

    /// Keeps what was found; true if any of it is new.
    fn remember(&mut self, sources: Vec<String>, hits: Vec<String>) -> bool;

    fn conclude_step(&mut self, kind: &TaskType, planned: &Planned, ok: bool, result: Value);
}

impl RuleParts for Work {
    fn count(&mut self, ruling: Ruling, bounds: &Bounds) -> Ruling {
        let free = match &ruling {
            Ruling::Run(planned) => planned.purpose == Purpose::Lookup,
            Ruling::Done { .. } | Ruling::Escalate { .. } | Ruling::Cap { .. } => true,
            Ruling::Instead { .. } | Ruling::Thought { .. } | Ruling::Reject { .. } => false,
        };
        let most = bounds.react_max_iterations.saturating_add(bounds.granted);
        if !free && self.iteration >= most {
            let why = format!("it has had its {most} iterations");
            return Ruling::Cap { cap: "react_max_iterations", why };
        }
        self.rejected = matches!(ruling, Ruling::Reject { .. });
        if let Ruling::Reject { why, .. } = &ruling {
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
        bounds: &Bounds,
    ) -> Ruling {
        if self.failed_calls.contains(&identity(tool, args)) {
            return reject(
                "same_args",
                format!("{tool} already failed with the same arguments; change them"),
            );
        }
        let step = match self.step_for(kind, named, tool, facts) {
            Place::Step(step) => step,
            Place::Within(step) => return self.look(kind, step, tool, args, facts, bounds),
            Place::Repeated(step) => return self.repeated(kind, step, tool, facts),
            Place::Nowhere(why) => return reject("step_not_pending", why),
        };
        if let Some(instead) = self.guard(kind, tool, facts) {
            return instead;
        }
        if step.most.is_some_and(|most| self.tries(&step.name) >= most) {
            return self.repeated(kind, step, tool, facts);
        }
        self.run(step, tool, args, bounds)
    }

    fn tries(&self, step: &str) -> u32 {
        self.step_calls.get(step).copied().unwrap_or(0)
    }

    fn run(&self, step: &Step, tool: &str, args: &Value, bounds: &Bounds) -> Ruling {
        let most = self.state.max_steps.saturating_add(bounds.granted);
        if self.calls >= most {
            return Ruling::Cap { cap: "max_steps", why: format!("it has made its {most} calls") };
        }
        Ruling::Run(Planned {
            step: step.name.clone(),
            tool: tool.to_owned(),
            args: args.clone(),
            purpose: Purpose::Step,
        })
    }

    fn step_for<'k>(
        &self,
        kind: &'k TaskType,
        named: Option<&str>,
        tool: &str,
        facts: ToolFacts,
    ) -> Place<'k> {
        let pending = |step: &&Step| self.state.is_pending(&step.name);
        let looks = facts.read_only && !facts.search_like;
        let current = || kind.steps.iter().find(pending);
        // A search belongs to the step that searches, whatever it is said to be for.
        let misplaced = |name: &&str| {
            let elsewhere = |step: &Step| !step.tools.is_empty() && step.takes(tool);
            let here = kind.step(name).is_some_and(|step| step.takes(tool));
            facts.search_like && !here && kind.steps.iter().any(elsewhere)
        };
        let named = named.filter(|name| !misplaced(name));
        if let Some(named) = named {
            return match kind.step(named) {
                Some(step) if pending(&step) && step.takes(tool) => Place::Step(step),
                Some(step) if pending(&step) && facts.read_only => Place::Within(step),
                Some(step) if pending(&step) => Place::Nowhere(wrong_tool(step, tool)),
                Some(step) if step.on_repeat.is_some() && step.takes(tool) => Place::Repeated(step),
                _ => Place::Nowhere(format!("{named} is not a step that is still to be done")),
            };
        }
        if let Some(step) = kind.steps.iter().find(|step| pending(step) && step.takes(tool)) {
            let open = step.tools.is_empty();
            return if open && looks { Place::Within(step) } else { Place::Step(step) };
        }
        let done = kind.steps.iter().find(|step| !step.tools.is_empty() && step.takes(tool));
        match (done, current()) {
            (_, Some(current)) if looks => Place::Within(current),
            (Some(done), _) if facts.search_like => Place::Repeated(done),
            (Some(done), _) => Place::Nowhere(format!("the step {} is done", done.name)),
            (None, Some(current)) if facts.read_only => Place::Within(current),
            (None, Some(current)) => Place::Nowhere(wrong_tool(current, tool)),
            (None, None) => Place::Nowhere("all steps are done".to_owned()),
        }
    }

    fn look(
        &self,
        kind: &TaskType,
        step: &Step,
        tool: &str,
        args: &Value,
        facts: ToolFacts,
        bounds: &Bounds,
    ) -> Ruling {
        if let Some(instead) = self.guard(kind, tool, facts) {
            return instead;
        }
        if self.lookups >= bounds.lookups_per_step {
            return reject(
                "lookups_used_up",
                format!("{} lookups were made for {}; go on with it", self.lookups, step.name),
            );
        }
        Ruling::Run(Planned {
            step: step.name.clone(),
            tool: tool.to_owned(),
            args: args.clone(),
            purpose: Purpose::Lookup,
        })
    }

    fn guard(&self, kind: &TaskType, tool: &str, facts: ToolFacts) -> Option<Ruling> {
        if !facts.search_like || self.searches_in_a_row < SEARCHES_IN_A_ROW {
            return None;
        }
        let why = format!("{tool} would be search number {}", self.searches_in_a_row + 1);
        Some(match kind.producing(&self.state) {
            Some(step) => Ruling::Instead { step: step.name.clone(), why },
            None => reject("loop_guard", format!("{why} in a row; use what was found")),
        })
    }

    fn repeated(&self, kind: &TaskType, step: &Step, tool: &str, facts: ToolFacts) -> Ruling {
        let why = format!("{} was done already and {tool} would repeat it", step.name);
        let other = step.on_repeat.as_deref().filter(|other| self.state.is_pending(other));
        let producing = || kind.producing(&self.state).filter(|_| !step.produces);
        match other.or_else(|| Some(producing()?.name.as_str())) {
            Some(other) => Ruling::Instead { step: other.to_owned(), why },
            None if facts.read_only => reject("loop_guard", why),
            None => Ruling::Escalate {
                why: format!("{} was tried {} times", step.name, self.tries(&step.name)),
            },
        }
    }

    fn rule_words(&self, kind: &TaskType, text: &str) -> Ruling {
        let steps = self.thoughts_ahead(kind);
        let last = steps.len() == self.state.pending_steps.len();
        if steps.is_empty() || last || text.trim().is_empty() {
            return self.rule_done(kind, text);
        }
        Ruling::Thought { steps }
    }

    fn rule_done(&self, kind: &TaskType, answer: &str) -> Ruling {
        let thoughts = self.thoughts_ahead(kind).len();
        let left = &self.state.pending_steps[thoughts..];
        if kind.until_done || left.is_empty() {
            return Ruling::Done { answer: answer.to_owned() };
        }
        reject("steps_pending", format!("still to be done: {}", left.join(", ")))
    }

    fn advance(&mut self, step: &str, result: Value) {
        if self.state.advance(step, result) {
            self.lookups = 0;
        }
    }

    fn remember(&mut self, sources: Vec<String>, hits: Vec<String>) -> bool {
        let mut news = false;
        for source in sources {
            news |= self.sources.insert(source);
        }
        for hit in hits {
            news |= self.hits.len() < MOST_HITS && self.hits.insert(hit);
        }
        news
    }

    fn conclude_step(&mut self, kind: &TaskType, planned: &Planned, ok: bool, result: Value) {
        let Some(step) = kind.step(&planned.step) else { return };
        let pattern = kind.pattern();
        if !ok {
            self.state.requeue(&step.on_failure, &pattern);
            return;
        }
        if kind.until_done {
            self.state.step_results.insert(step.name.clone(), result);
            return;
        }
        // What was weighed before this step was weighed for it.
        let before = self.thoughts_ahead(kind);
        let place = kind.steps.iter().position(|own| own.name == step.name).unwrap_or(0);
        for thought in before {
            if kind.steps.iter().take(place).any(|own| own.name == thought) {
                self.advance(&thought, Value::String("weighed with the step it led to".to_owned()));
            }
        }
        self.advance(&step.name, result);
        if step.produces {
            // What failed before may work now that something is different.
            self.failed_calls.clear();
            // Whatever was checked before is not true of what is there now.
            let later: Vec<String> = kind.steps[place + 1..]
                .iter()
                .filter(|own| self.state.is_completed(&own.name))
                .map(|own| own.name.clone())
                .collect();
            self.state.requeue(&later, &pattern);
        }
    }
}

/// Where a call belongs.
enum Place<'k> {
    Step(&'k Step),
    /// It only looks, within this step.
    Within(&'k Step),
    Repeated(&'k Step),
    Nowhere(String),
}

fn reject(code: &'static str, why: String) -> Ruling {
    Ruling::Reject { code, why }
}

fn wrong_tool(step: &Step, tool: &str) -> String {
    if step.tools.is_empty() {
        return format!("{tool} does not do the step {}; say it in words", step.name);
    }
    format!("{tool} does not do the step {}; {} does", step.name, step.tools.join(" or "))
}
