//! The one way to call a tool: check, resolve, decide, have the intent journaled, run, have the outcome journaled.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::builtin::Questions;
use super::cache::ResultCache;
use super::context::{HeldPermit, Permits, Progress, Services, ToolContext, ToolFilter};
use super::history::{Observation, ToolChoice};
use super::meta::{RepeatKind, Resolved};
use super::permission::{
    AskReason, Because, Offers, PermissionInput, PlanGrant, Rule, SandboxState, Stage, Verdict,
    decide,
};
use super::registry::Registry;
use super::settings::ToolSettings;
use super::tool::{Answer, Code, StoreWrite, Tool, ToolError};
use super::workspace::Workspace;
use crate::event::RiskClass;
use crate::model::{ApprovalPolicy, Autonomy, CallId, Digest, ToolResult};
use crate::text::Redactor;

/// A call that somebody wants made.
#[derive(Clone, Debug)]
pub struct ToolCall {
    pub id: CallId,
    pub tool: String,
    pub args: Value,
    /// Why this tool, where there was a choice.
    pub choice: Option<ToolChoice>,
    pub filter: ToolFilter,
    pub cancel: CancellationToken,
    pub held: HeldPermit,
}

impl ToolCall {
    pub fn new(id: CallId, tool: &str, args: Value) -> Self {
        Self {
            id,
            tool: tool.to_owned(),
            args,
            choice: None,
            filter: ToolFilter::default(),
            cancel: CancellationToken::new(),
            held: HeldPermit::default(),
        }
    }
}

/// What decides about a call besides the call itself, as it is right now.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub stage: Stage,
    pub autonomy: Autonomy,
    pub approval_policy: ApprovalPolicy,
    pub plan: Option<PlanGrant>,
    pub rules: Vec<Rule>,
    pub grants: Vec<Rule>,
    pub in_doubt: bool,
    pub first_after_import: bool,
    /// The breaker of the tool refuses calls for so many milliseconds.
    pub breaker_open_ms: Option<u64>,
    /// What has been produced so far, by the names that tools have as prerequisites.
    pub produced: BTreeSet<String>,
}

/// A call that is about to start. Durable before anything runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Intent {
    pub call: CallId,
    pub tool: String,
    pub version: String,
    pub args: Value,
    pub args_hash: Digest,
    pub class: RiskClass,
    pub repeat: RepeatKind,
    pub resolved: Resolved,
    pub because: Because,
    pub choice: Option<ToolChoice>,
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PermissionAsk {
    pub call: CallId,
    pub tool: String,
    pub class: RiskClass,
    pub resolved: Resolved,
    pub why: AskReason,
    pub offers: Offers,
    /// What an answer *once* is bound to.
    pub binding: Digest,
    pub sandbox: SandboxState,
}

/// What the person said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum PermissionAnswer {
    Once,
    /// For this session; the rule becomes a grant.
    Session {
        rule: Rule,
    },
    /// The class, for the rest of the phase.
    Phase,
    /// From now on; the rule goes into the person's own config.
    Always {
        rule: Rule,
    },
    Deny {
        reason: String,
    },
    /// Ends the task.
    Stop,
    /// Nobody is there to answer.
    Nobody,
}

/// How a call ended, with everything that is committed together.
#[derive(Clone, Debug)]
pub struct Conclusion {
    pub call: CallId,
    pub tool: String,
    pub result: ToolResult,
    pub writes: Vec<StoreWrite>,
    /// The whole output, redacted, where the result holds only part of it.
    pub full_output: Option<String>,
    pub after_hash: Option<Digest>,
    pub protected_changes: Vec<String>,
    pub elapsed: Duration,
}

/// What the caller gets.
#[derive(Clone, Debug)]
pub struct Finished {
    pub result: ToolResult,
    pub cache_hit: bool,
    /// How the call was decided, unless it never came to that.
    pub verdict: Option<Verdict>,
    pub protected_changes: Vec<String>,
}

impl Finished {
    fn unstarted(error: ToolError, verdict: Option<Verdict>) -> Self {
        let result = ToolResult::failure(&error.into());
        Self { result, cache_hit: false, verdict, protected_changes: Vec::new() }
    }
}

/// What stands around every call: it knows the policy, asks the person, and journals.
pub trait Bracket: Send + Sync {
    fn standing(&self, call: &ToolCall) -> Standing;

    /// Asks the person. Grants and rules that follow from the answer are the bracket's to keep.
    fn ask<'a>(&'a self, ask: &'a PermissionAsk) -> BoxFuture<'a, PermissionAnswer>;

    /// Makes the intent durable. An error means that nothing is started.
    fn intend<'a>(&'a self, intent: &'a Intent) -> BoxFuture<'a, Result<(), String>>;

    /// Makes the outcome durable, with the writes in the same commit. An error replaces the result.
    fn conclude<'a>(&'a self, conclusion: &'a Conclusion) -> BoxFuture<'a, Result<(), String>>;

    /// Takes notice of something that happens while a call runs.
    fn progress(&self, call: &CallId, progress: Progress);
}

/// Everything that calls share. Cheap to clone.
#[derive(Clone)]
pub struct Toolbox(Arc<Inner>);

struct Inner {
    parts: Parts,
    cache: ResultCache,
    questions: Questions,
    calls: CallMemory,
}

/// What a toolbox is made of.
pub struct Parts {
    pub registry: Registry,
    pub workspace: Arc<Workspace>,
    pub settings: ToolSettings,
    pub sandbox: super::sandbox::Sandbox,
    pub services: Services,
    pub permits: Permits,
    pub redactor: Redactor,
    pub bracket: Arc<dyn Bracket>,
    /// What marks the processes of this session.
    pub session: String,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolbox").field("parts", &self.0.parts).finish_non_exhaustive()
    }
}

/// What is remembered about calls to notice repetition.
#[derive(Debug, Default)]
struct CallMemory(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    /// The last call of each task and how often it was made in a row.
    last: BTreeMap<String, (Digest, u32)>,
    denied: BTreeSet<Digest>,
}

impl CallMemory {
    /// Counts a call and returns how many like it came right before.
    fn count(&self, task: &str, hash: &Digest) -> u32 {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = remembered.last.entry(task.to_owned()).or_insert_with(|| (hash.clone(), 0));
        if entry.0 != *hash {
            *entry = (hash.clone(), 0);
        }
        let before = entry.1;
        entry.1 += 1;
        before
    }

    /// Remembers a denial; true if the same call was denied before.
    fn denied_again(&self, hash: &Digest) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).denied.insert(hash.clone())
    }
}

impl Toolbox {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner {
            parts,
            cache: ResultCache::default(),
            questions: Questions::default(),
            calls: CallMemory::default(),
        }))
    }

    pub(super) fn questions(&self) -> &Questions {
        &self.0.questions
    }

    pub fn registry(&self) -> &Registry {
        &self.0.parts.registry
    }

    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.0.parts.workspace
    }

    pub fn settings(&self) -> &ToolSettings {
        &self.0.parts.settings
    }

    pub fn sandbox(&self) -> &super::sandbox::Sandbox {
        &self.0.parts.sandbox
    }

    pub fn services(&self) -> &Services {
        &self.0.parts.services
    }

    pub fn permits(&self) -> &Permits {
        &self.0.parts.permits
    }

    pub fn redactor(&self) -> &Redactor {
        &self.0.parts.redactor
    }

    pub fn cache(&self) -> &ResultCache {
        &self.0.cache
    }

    pub fn bracket(&self) -> &dyn Bracket {
        self.0.parts.bracket.as_ref()
    }

    /// What marks the processes of a call among all others.
    pub fn mark(&self, call: &CallId) -> String {
        format!("{}/{call}", self.0.parts.session)
    }

    /// Makes one call. There is no other way to start a tool.
    pub async fn invoke(&self, call: ToolCall) -> Finished {
        let standing = self.bracket().standing(&call);
        let prepared = match self.prepare(&call, &standing) {
            Ok(prepared) => prepared,
            Err(error) => return Finished::unstarted(error, None),
        };
        let (prepared, verdict) = match self.settle(&call, standing, prepared).await {
            Ok(settled) => settled,
            Err((error, verdict)) => return Finished::unstarted(error, Some(verdict)),
        };
        self.carry_out(call, prepared, verdict).await
    }

    /// Everything that can be known without asking or running.
    fn prepare(&self, call: &ToolCall, standing: &Standing) -> Result<Prepared, ToolError> {
        let tool = self.0.parts.registry.get(&call.tool).ok_or_else(|| self.unknown(&call.tool))?;
        let meta = tool.meta();
        if !call.filter.admits(meta) {
            let message = format!("{} cannot be used here", meta.name);
            return Err(ToolError::new(Code::NotAllowedHere, message));
        }
        let checked = super::schema::check(&meta.schema, &call.args)
            .map_err(|message| ToolError::new(Code::BadArgs, message))?;
        if let Some(missing) =
            meta.prerequisites.iter().find(|name| !standing.produced.contains(*name))
        {
            let message = format!("{} needs `{missing}` first", meta.name);
            return Err(ToolError::new(Code::MissingPrerequisite, message));
        }
        if let Some(wait) = standing.breaker_open_ms {
            let seconds = wait.div_ceil(1000);
            let message = format!("{} failed too often; try again in {seconds} s", meta.name);
            return Err(ToolError::new(Code::BreakerOpen, message));
        }
        let context = self.context(call);
        let resolved = tool.resolve(&checked.args, &context)?;
        Ok(Prepared {
            tool: Arc::clone(tool),
            resolved,
            context,
            unknown_fields: checked.unknown_fields,
            approved: false,
        })
    }

    fn unknown(&self, name: &str) -> ToolError {
        let near = self.0.parts.registry.nearest(name);
        let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        ToolError::new(Code::UnknownTool, format!("there is no tool {name}{hint}"))
    }

    fn context(&self, call: &ToolCall) -> ToolContext {
        ToolContext {
            toolbox: self.clone(),
            call: call.id.clone(),
            cancel: call.cancel.clone(),
            filter: call.filter.clone(),
            held: call.held.clone(),
            inside: Arc::default(),
        }
    }

    /// Decides, asking the person where that is needed, until there is an answer for the call as it is.
    async fn settle(
        &self,
        call: &ToolCall,
        mut standing: Standing,
        mut prepared: Prepared,
    ) -> Result<(Prepared, Because), (ToolError, Verdict)> {
        let repeated = self.0.calls.count(call.id.task.as_str(), &prepared.identity());
        loop {
            let verdict = self.decide(&standing, &prepared, repeated);
            let (why, offers) = match verdict.clone() {
                Verdict::Allow { because } => return Ok((prepared, because)),
                Verdict::Refuse { code, why } => {
                    let mut error = ToolError::new(code_named(&code), why);
                    if error.code == Code::Denied {
                        error.category = crate::model::Category::Recoverable;
                    }
                    return Err((error, verdict));
                }
                Verdict::Ask { why, offers } => (why, offers),
            };
            let binding = self.binding(&prepared);
            let ask = PermissionAsk {
                call: call.id.clone(),
                tool: prepared.tool.meta().name.clone(),
                class: prepared.resolved.effect.class(),
                resolved: prepared.resolved.clone(),
                why,
                offers,
                binding: binding.clone(),
                sandbox: self.0.parts.sandbox.state(),
            };
            let answer = tokio::select! {
                answer = self.bracket().ask(&ask) => answer,
                () = call.cancel.cancelled() => {
                    return Err((ToolError::new(Code::Cancelled, "the task was cancelled"), verdict));
                }
            };
            if let Some(error) = self.refusal(&prepared, &answer) {
                return Err((error, verdict));
            }
            // The world may have moved on while the person thought: the answer counts only for what was shown.
            standing = self.bracket().standing(call);
            prepared = self.prepare(call, &standing).map_err(|error| (error, verdict.clone()))?;
            if self.binding(&prepared) == binding {
                prepared.approved = true;
                return Ok((prepared, Because::Person));
            }
        }
    }

    fn decide(&self, standing: &Standing, prepared: &Prepared, repeated: u32) -> Verdict {
        let secret_at = secret_in(&prepared.resolved.args, &self.0.parts.redactor);
        decide(&PermissionInput {
            tool: &prepared.tool.meta().name,
            resolved: &prepared.resolved,
            stage: standing.stage,
            autonomy: standing.autonomy,
            approval_policy: standing.approval_policy,
            plan: standing.plan.as_ref(),
            sandbox: &self.0.parts.sandbox.state(),
            rules: &standing.rules,
            grants: &standing.grants,
            secret_at: secret_at.as_deref(),
            repeated,
            in_doubt: standing.in_doubt,
            first_after_import: standing.first_after_import,
        })
    }

    fn refusal(&self, prepared: &Prepared, answer: &PermissionAnswer) -> Option<ToolError> {
        match answer {
            PermissionAnswer::Once
            | PermissionAnswer::Session { .. }
            | PermissionAnswer::Phase
            | PermissionAnswer::Always { .. } => None,
            PermissionAnswer::Deny { reason } => {
                let again = self.0.calls.denied_again(&prepared.identity());
                let code = if again { Code::Stopped } else { Code::Denied };
                let reason =
                    if reason.trim().is_empty() { "no reason given" } else { reason.trim() };
                Some(ToolError::new(code, format!("the person said no: {reason}")))
            }
            PermissionAnswer::Stop => {
                Some(ToolError::new(Code::Stopped, "the person stopped the task"))
            }
            PermissionAnswer::Nobody => Some(ToolError::new(
                Code::NeedsPerson,
                format!(
                    "{} needs an answer and nobody is there to give it",
                    prepared.tool.meta().name
                ),
            )),
        }
    }

    /// What an answer *once* is bound to: any change asks anew.
    fn binding(&self, prepared: &Prepared) -> Digest {
        let meta = prepared.tool.meta();
        Digest::of_json(&json!({
            "tool": meta.name,
            "version": meta.version,
            "resolved": prepared.resolved,
            "directory": self.0.parts.workspace.root().display().to_string(),
            "sandbox": self.0.parts.sandbox.state(),
        }))
    }

    async fn carry_out(&self, call: ToolCall, prepared: Prepared, because: Because) -> Finished {
        let meta = prepared.tool.meta();
        let verdict = Some(Verdict::Allow { because: because.clone() });
        let key = self.0.cache.key(meta, &prepared.resolved, &prepared.context);
        if let Some(result) = key.as_ref().and_then(|key| self.0.cache.get(key)) {
            return Finished { result, cache_hit: true, verdict, protected_changes: Vec::new() };
        }
        let intent = Intent {
            call: call.id.clone(),
            tool: meta.name.clone(),
            version: meta.version.clone(),
            args: prepared.resolved.args.clone(),
            args_hash: Digest::of_json(&prepared.resolved.args),
            class: prepared.resolved.effect.class(),
            repeat: meta.repeat,
            resolved: prepared.resolved.clone(),
            because,
            choice: call.choice.clone(),
        };
        if let Err(message) = self.bracket().intend(&intent).await {
            return Finished::unstarted(ToolError::new(Code::NotJournaled, message), verdict);
        }
        let begun = Instant::now();
        let answer = run(&prepared, &call.cancel).await;
        let conclusion = self.conclusion(&call, &prepared, answer, begun.elapsed());
        if prepared.resolved.effect.reaches_out() {
            self.0.cache.drop_touched(&prepared.resolved);
        }
        if let Err(message) = self.bracket().conclude(&conclusion).await {
            return Finished::unstarted(ToolError::new(Code::NotJournaled, message), verdict);
        }
        if let Some(key) = key {
            self.0.cache.put(key, &conclusion.result);
        }
        Finished {
            result: conclusion.result,
            cache_hit: false,
            verdict,
            protected_changes: conclusion.protected_changes,
        }
    }

    fn conclusion(
        &self,
        call: &ToolCall,
        prepared: &Prepared,
        mut answer: Answer,
        elapsed: Duration,
    ) -> Conclusion {
        let meta = prepared.tool.meta();
        let redactor = &self.0.parts.redactor;
        let mut data = Value::Object(std::mem::take(&mut answer.result.data));
        redact(&mut data, redactor);
        if let Value::Object(fields) = data {
            answer.result.data = fields;
        }
        for line in &mut answer.result.explanations {
            *line = redactor.redact(line).into_owned();
        }
        if !prepared.unknown_fields.is_empty() {
            let fields = prepared.unknown_fields.join(", ");
            answer.result.explanations.push(format!("unknown_field: {fields} left out"));
        }
        let code = answer.result.failed().map(|failure| failure.code);
        // A wrong argument says something about the caller, a cancelled call about nobody.
        let teaches = !matches!(code.as_deref(), Some("bad_args" | "cancelled"));
        if teaches {
            answer.writes.push(StoreWrite::History(Observation {
                tool: meta.name.clone(),
                affinity: call.choice.as_ref().map(|choice| choice.affinity.score),
                ok: answer.result.ok,
                confidence: answer.result.confidence,
                latency_ms: elapsed.as_secs_f64() * 1000.0,
                code,
            }));
        }
        if let Some(pin) = prepared.resolved.pin.as_ref().filter(|_| prepared.approved) {
            answer.writes.push(StoreWrite::Pin { tool: meta.name.clone(), hash: pin.hash.clone() });
        }
        Conclusion {
            call: call.id.clone(),
            tool: meta.name.clone(),
            result: answer.result,
            writes: answer.writes,
            full_output: answer.full_output.map(|text| redactor.redact(&text).into_owned()),
            after_hash: answer.after_hash,
            protected_changes: answer.protected_changes,
            elapsed,
        }
    }
}

/// A call that is ready to be decided.
struct Prepared {
    tool: Arc<dyn Tool>,
    resolved: Resolved,
    context: ToolContext,
    unknown_fields: Vec<String>,
    /// The person said yes to it.
    approved: bool,
}

impl Prepared {
    /// Tool and arguments: two calls with the same identity are the same call.
    fn identity(&self) -> Digest {
        let meta = self.tool.meta();
        Digest::of_json(&json!({ "tool": meta.name, "args": self.resolved.args }))
    }
}

/// Runs within the time limit. A panic is a failure of this call and of nothing else.
async fn run(prepared: &Prepared, cancel: &CancellationToken) -> Answer {
    let limit = prepared.tool.meta().time_limit;
    let work =
        AssertUnwindSafe(prepared.tool.call(&prepared.resolved, &prepared.context)).catch_unwind();
    // Tools that run commands end them by themselves and say more; the grace lets them.
    let grace = Duration::from_secs(5);
    tokio::select! {
        answer = work => answer.unwrap_or_else(|_| {
            ToolError::new(Code::Internal, "the tool failed in a way it should not").into()
        }),
        () = tokio::time::sleep(limit + grace) => {
            let seconds = limit.as_secs();
            ToolError::new(Code::Timeout, format!("it took longer than {seconds} s")).into()
        }
        () = async { cancel.cancelled().await; tokio::time::sleep(grace).await } => {
            ToolError::new(Code::Cancelled, "the task was cancelled").into()
        }
    }
}

fn code_named(name: &str) -> Code {
    match name {
        "secret_in_arguments" => Code::SecretInArguments,
        "denied" => Code::Denied,
        _ => Code::Refused,
    }
}

/// The first place in the arguments that redaction would change.
fn secret_in(args: &Value, redactor: &Redactor) -> Option<String> {
    fn visit(value: &Value, place: &str, redactor: &Redactor) -> Option<String> {
        match value {
            Value::String(text) => redactor.would_change(text).then(|| place.to_owned()),
            Value::Array(items) => items.iter().enumerate().find_map(|(position, item)| {
                visit(item, &format!("{place}[{position}]"), redactor)
            }),
            Value::Object(fields) => fields.iter().find_map(|(name, item)| {
                let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                if redactor.would_change(name) {
                    Some(inner)
                } else {
                    visit(item, &inner, redactor)
                }
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    visit(args, "", redactor).or_else(|| {
        // A name and its value together may give away what neither does alone.
        let text = crate::model::canonical_json(args);
        redactor.would_change(&text).then(|| "the arguments".to_owned())
    })
}

fn redact(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(redacted) = redactor.redact(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, redactor)),
        Value::Object(fields) => fields.values_mut().for_each(|item| redact(item, redactor)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
