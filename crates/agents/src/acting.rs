//! The operational tier: makes one call, through the toolbox and no other way, and takes notice of what came of it.

use planwright_drafting::executor::ExecutorRules as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::choosing::Tools;
use super::executor::{RoundEnd, cancelled};
use super::framing::{found, rendered};
use super::mouth::{StepWords, redacted};
use super::run::Run;
use planwright_drafting::executor::{Observed, Prdv, Step, TaskType, ToolFacts};
use planwright_model::agent_work::{Planned, Purpose, Work};
use planwright_model::{CallId, Category, Failure, ToolResult};
use planwright_state::agents::{FRESH, OpenAction, RESULT, Unnoticed, cut};
use planwright_tools::limit::tail;
use planwright_tools::{Finished, ToolCall};

/// How often a call that may well work the next time is made again, and how long is waited before.
const RETRIES: u32 = 2;
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// What a command among the exit criteria is called for, in the place of a step.
pub(super) const CRITERIA: &str = "criteria";

/// Failures that end the attempt, whatever the model would do next.
const FINAL: [&str; 5] =
    ["stopped", "needs_person", "cancelled", "not_journaled", "protected_changed"];

impl Run<'_> {
    /// Makes a call. Something comes back only if the attempt is over.
    pub(super) async fn act(
        &self,
        kind: &TaskType,
        work: &mut Work,
        tools: &Tools,
        planned: Planned,
    ) -> Option<RoundEnd> {
        let mut finished = Box::pin(self.call(kind, work, tools, &planned, 0)).await;
        for retry in 1..=RETRIES {
            if !worth_repeating(&finished.result) || self.cancel.is_cancelled() {
                break;
            }
            let wait = FIRST_WAIT * 2u32.pow(retry - 1);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.cancel.cancelled() => break,
            }
            finished = Box::pin(self.call(kind, work, tools, &planned, retry)).await;
        }
        Box::pin(self.take_notice(kind, work, tools, &planned, &finished)).await
    }

    /// Says the call, makes it, says what came of it.
    async fn call(
        &self,
        kind: &TaskType,
        work: &Work,
        tools: &Tools,
        planned: &Planned,
        retry: u32,
    ) -> Finished {
        let number = self.mouth.progress().calls + 1;
        let choice = tools.choice(&planned.tool, &self.job.affinity);
        let shown = redacted(planned.args.clone(), &self.mouth.redactor);
        let altered = shown != planned.args;
        let prdv = prdv(kind, planned);
        let mut words = StepWords::new(headline(planned), prdv)
            .with("call", number)
            .with("step", planned.step.as_str())
            .with("purpose", json!(planned.purpose))
            .with("affinity_delta", tools.delta(&planned.tool, &self.job.affinity))
            .with("iteration", work.iteration)
            .with("work", self.hidden(work));
        if let Some(choice) = &choice {
            words = words.with("choice", json!(choice));
        }
        if retry > 0 {
            words = words.with("retry", retry);
        }
        if altered {
            words = words.with("redacted", true);
        }
        (words.tool, words.input) = (Some(planned.tool.clone()), Some(shown));
        self.mouth.acted(words);
        self.carry_out(planned, number, choice, prdv).await
    }

    /// A command among the exit criteria, called like any other.
    pub(super) async fn call_for_criteria(&self, planned: &Planned) -> Finished {
        let number = self.mouth.progress().calls + 1;
        let mut words = StepWords::new(headline(planned), Prdv::Validate)
            .with("call", number)
            .with("step", planned.step.as_str())
            .with("purpose", json!(planned.purpose));
        (words.tool, words.input) = (Some(planned.tool.clone()), Some(planned.args.clone()));
        self.mouth.acted(words);
        self.carry_out(planned, number, None, Prdv::Validate).await
    }

    async fn carry_out(
        &self,
        planned: &Planned,
        number: u32,
        choice: Option<planwright_tools::ToolChoice>,
        prdv: Prdv,
    ) -> Finished {
        let id = CallId { task: self.job.task.id.clone(), attempt: self.job.attempt, step: number };
        let mut call = ToolCall::new(id, &planned.tool, planned.args.clone());
        call.choice = choice;
        call.cancel = self.cancel.clone();
        call.held = self.job.held.clone();
        let finished = self.kit.toolbox.invoke(call).await;
        let result = &finished.result;
        // Nothing came of a call that was ended from outside: it stays open, for whoever takes the task up.
        if self.cancel.is_cancelled() && ended_from_outside(result) {
            return finished;
        }
        let text = cut(&rendered(result), FRESH);
        let mut words = StepWords::new(text, prdv)
            .with("call", number)
            .with("step", planned.step.as_str())
            .with("ok", result.ok)
            .with("cache_hit", finished.cache_hit);
        if let Some(verdict) = &finished.verdict {
            words = words.with("verdict", json!(verdict));
        }
        words.tool = Some(planned.tool.clone());
        words.output = serde_json::to_value(small(result)).ok();
        words.confidence = Some(result.confidence);
        self.mouth.observed(words);
        finished
    }

    /// A call that was decided before an interruption: the toolbox knows whether it may simply be made.
    pub(super) async fn redo(
        &self,
        kind: &TaskType,
        work: &mut Work,
        tools: &Tools,
        open: OpenAction,
    ) -> Option<RoundEnd> {
        let OpenAction { number, planned, redacted, .. } = open;
        let prdv = prdv(kind, &planned);
        let finished = if redacted {
            let failure = Failure::new(
                "secret_in_arguments",
                Category::Critical,
                "the call held a secret and cannot be made again from the journal",
            );
            let mut words = StepWords::new(failure.message.clone(), prdv).with("ok", false);
            words.tool = Some(planned.tool.clone());
            self.mouth.observed(words);
            Finished {
                result: ToolResult::failure(&failure),
                cache_hit: false,
                verdict: None,
                protected_changes: Vec::new(),
            }
        } else {
            let choice = tools.choice(&planned.tool, &self.job.affinity);
            self.carry_out(&planned, number, choice, prdv).await
        };
        if planned.step == CRITERIA {
            return None;
        }
        let end = Box::pin(self.take_notice(kind, work, tools, &planned, &finished)).await;
        self.save(work);
        end
    }

    /// A call that came to its end right before an interruption.
    pub(super) async fn catch_up(
        &self,
        kind: &TaskType,
        work: &mut Work,
        tools: &Tools,
        Unnoticed { planned, result }: Unnoticed,
    ) -> Option<RoundEnd> {
        if planned.step == CRITERIA {
            return None;
        }
        let finished =
            Finished { result, cache_hit: false, verdict: None, protected_changes: Vec::new() };
        let end = Box::pin(self.take_notice(kind, work, tools, &planned, &finished)).await;
        self.save(work);
        end
    }

    async fn take_notice(
        &self,
        kind: &TaskType,
        work: &mut Work,
        tools: &Tools,
        planned: &Planned,
        finished: &Finished,
    ) -> Option<RoundEnd> {
        let result = &finished.result;
        if self.cancel.is_cancelled() && ended_from_outside(result) {
            return Some(RoundEnd::Failed(cancelled()));
        }
        let failure = result.failed();
        let facts = tools.facts(&planned.tool).unwrap_or_default();
        work.observe(kind, planned, facts, seen(&planned.tool, result, failure.as_ref()));
        if let Some(failure) = failure.filter(|failure| FINAL.contains(&failure.code.as_str())) {
            return Some(RoundEnd::Failed(failure));
        }
        if let [changed, ..] = finished.protected_changes.as_slice() {
            let message = format!("{changed} was changed by {}", planned.tool);
            let failure = Failure::new("protected_changed", Category::Critical, message);
            return Some(RoundEnd::Failed(failure));
        }
        self.look_at_criteria(kind, work, planned, facts, result).await
    }

    /// A check that needs no tool: whether the skill that was written is one.
    pub(super) fn check(&self, kind: &TaskType, work: &mut Work, step: &Step) {
        let path = self
            .mouth
            .progress()
            .steps
            .iter()
            .rev()
            .find(|done| done.ok && done.tool == "skill.generator")
            .and_then(|done| {
                let name = done.input.get("name").and_then(Value::as_str)?;
                Some(format!("skills/{name}/SKILL.md"))
            });
        let outcome = path.ok_or_else(|| "no skill was written".to_owned()).and_then(|path| {
            let bytes =
                self.kit.toolbox.workspace().read(&path, 1 << 20).map_err(|error| error.message)?;
            let text = String::from_utf8(bytes).map_err(|_| format!("{path} is not text"))?;
            planwright_tools::builtin::check_skill(&text)
                .map_err(|why| format!("{path}: {why}"))?;
            Ok(json!({ "path": path, "verified": true }))
        });
        let words = match &outcome {
            Ok(result) => format!("{}: {}", step.name, result["path"].as_str().unwrap_or_default()),
            Err(why) => format!("{}: {why}", step.name),
        };
        let ok = outcome.is_ok();
        self.mouth.thought(
            StepWords::new(words, step.prdv).with("step", step.name.as_str()).with("ok", ok),
        );
        work.checked(kind, &step.name, outcome);
    }
}

/// A result as it is journaled with the step: whole, unless that would be too much.
fn small(result: &ToolResult) -> ToolResult {
    let mut kept = result.clone();
    if Value::Object(kept.data.clone()).to_string().len() > FRESH {
        kept.data.retain(|name, value| name == "error" || value.to_string().len() <= RESULT);
        kept.data.insert("text".to_owned(), json!(cut(&rendered(result), FRESH)));
    }
    kept
}

fn ended_from_outside(result: &ToolResult) -> bool {
    result.failed().is_some_and(|failure| failure.code == "cancelled")
}

/// Whether the same call may well work the next time.
fn worth_repeating(result: &ToolResult) -> bool {
    result.failed().is_some_and(|failure| {
        failure.category == Category::Transient
            && !matches!(failure.code.as_str(), "breaker_open" | "timeout")
    })
}

fn prdv(kind: &TaskType, planned: &Planned) -> Prdv {
    match planned.purpose {
        Purpose::Lookup => Prdv::Research,
        Purpose::Step => kind.step(&planned.step).map_or(Prdv::Research, |step| step.prdv),
    }
}

/// One line that says what is done.
fn headline(planned: &Planned) -> String {
    let main = ["command", "path", "query", "pattern", "url", "name", "filter"];
    let said = main.iter().find_map(|name| planned.args.get(*name)?.as_str());
    let what = said.map_or_else(|| planned.args.to_string(), str::to_owned);
    format!("{}  {}", planned.tool, cut(what.lines().next().unwrap_or_default(), 160))
}

/// What the rules need to know of a result.
fn seen(tool: &str, result: &ToolResult, failure: Option<&Failure>) -> Observed {
    let (sources, hits) = if result.ok { found(tool, result) } else { Default::default() };
    let end = result.data.get("tail").and_then(Value::as_str);
    let feedback = failure.map(|failure| {
        let output = end.map(|end| format!("\n{}", tail(end, RESULT))).unwrap_or_default();
        format!("{tool} failed ({}): {}{output}", failure.code, failure.message)
    });
    Observed {
        ok: result.ok,
        result: Value::String(cut(&rendered(result), 300)),
        sources,
        hits,
        feedback,
        transient: failure.is_some_and(|failure| failure.category == Category::Transient),
    }
}

/// Whether a call may have changed what the criteria look at.
pub(super) fn may_change(facts: ToolFacts) -> bool {
    !facts.read_only
}
