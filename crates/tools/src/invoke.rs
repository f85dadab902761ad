//! The one way to call a tool: check, resolve, decide, have the intent journaled, run, have the outcome journaled.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::builtin::Questions;
use super::cache::ResultCache;
use super::call::{
    Bracket, Conclusion, Finished, Intent, PermissionAnswer, PermissionAsk, Standing, ToolCall,
};
use super::catalog::Catalog;
use super::context::{Permits, Services, ToolContext};
use super::history::Observation;
use super::mcp::{ServerReport, Servers};
use super::meta::Resolved;
use super::permission::{Because, PermissionInput, SandboxState, Verdict, decide};
use super::registry::Registry;
use super::repetition::CallMemory;
use super::secrets::{redact, secret_in, variable_in};
use super::settings::ToolSettings;
use super::tool::{Answer, Code, StoreWrite, Tool, ToolError};
use super::workspace::Workspace;
use planwright_model::{CallId, Digest};
use planwright_text::Redactor;

/// Everything that calls share. Cheap to clone.
#[derive(Clone)]
pub struct Toolbox(Arc<Inner>);

struct Inner {
    catalog: Catalog,
    parts: Parts,
    cache: ResultCache,
    questions: Questions,
    calls: CallMemory,
}

/// What a toolbox is made of.
pub struct Parts {
    pub registry: Registry,
    /// Servers whose tools join the registry when they are first needed.
    pub servers: Servers,
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
        f.debug_struct("Toolbox").field("catalog", &self.0.catalog).finish_non_exhaustive()
    }
}

impl Toolbox {
    pub fn new(mut parts: Parts) -> Self {
        let registry = std::mem::take(&mut parts.registry);
        let servers = std::mem::take(&mut parts.servers);
        Self(Arc::new(Inner {
            catalog: Catalog::new(registry, servers),
            parts,
            cache: ResultCache::default(),
            questions: Questions::default(),
            calls: CallMemory::default(),
        }))
    }

    pub(super) fn questions(&self) -> &Questions {
        &self.0.questions
    }

    /// The tools there are now.
    pub fn registry(&self) -> Arc<Registry> {
        self.0.catalog.registry()
    }

    /// Whether there is such a tool, or a server that may have it once it is reached.
    pub fn may_offer(&self, name: &str) -> bool {
        self.registry().get(name).is_some() || self.0.catalog.has_server_of(name)
    }

    /// Connects to the servers, the first time it is asked, so that their tools can be seen and called.
    pub async fn reach_servers(&self) -> Vec<ServerReport> {
        self.0.catalog.reach().await
    }

    /// Ends the servers that were started.
    pub async fn stop_servers(&self) {
        self.0.catalog.stop().await;
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

    /// Whether commands are confined in this workspace. One that holds our own files does not keep commands from them.
    pub fn sandbox_state(&self) -> SandboxState {
        if self.0.parts.workspace.holds_forbidden() {
            let why = "the workspace holds the files of Planwright itself".to_owned();
            return SandboxState::NotEnforced { why };
        }
        self.0.parts.sandbox.state()
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
        self.0.catalog.catch_up(&call.tool).await;
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
        let registry = self.registry();
        let tool = registry.get(&call.tool).ok_or_else(|| unknown(&registry, &call.tool))?;
        let meta = tool.meta();
        if !call.filter.admits(meta) {
            let message = format!("{} cannot be used here", meta.name);
            return Err(ToolError::new(Code::NotAllowedHere, message));
        }
        let checked = super::schema::check(&meta.schema, &call.args)
            .map_err(|message| ToolError::new(Code::BadArgs, message))?;
        if call.failed_args.as_ref() == Some(&Digest::of_json(&checked.args)) {
            let message = "the same arguments failed before; change something";
            return Err(ToolError::new(Code::SameArgs, message));
        }
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
                        error.category = planwright_model::Category::Recoverable;
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
                sandbox: self.sandbox_state(),
            };
            // Others work while the person thinks. A task that is to end does not wait for them.
            let ends = call.cancel.child_token();
            let asking = async {
                let answer = tokio::select! {
                    answer = self.bracket().ask(&ask) => answer,
                    () = call.cancel.cancelled() => return None,
                };
                if answer == PermissionAnswer::Stop {
                    ends.cancel();
                }
                Some(answer)
            };
            let answer = call.held.lend(self.permits(), &ends, asking).await;
            let Some(answer) = answer.filter(|_| !call.cancel.is_cancelled()) else {
                return Err((ToolError::new(Code::Cancelled, "the task was cancelled"), verdict));
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
        let (args, redactor) = (&prepared.resolved.args, &self.0.parts.redactor);
        let secret_at = secret_in(args, redactor);
        let secret_variable = secret_at.as_ref().and_then(|_| variable_in(args, redactor));
        decide(&PermissionInput {
            tool: &prepared.tool.meta().name,
            resolved: &prepared.resolved,
            stage: standing.stage,
            autonomy: standing.autonomy,
            approval_policy: standing.approval_policy,
            plan: standing.plan.as_ref(),
            sandbox: &self.sandbox_state(),
            rules: &standing.rules,
            grants: &standing.grants,
            secret_at: secret_at.as_deref(),
            secret_variable: secret_variable.as_deref(),
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
            "sandbox": self.sandbox_state(),
        }))
    }

    async fn carry_out(&self, call: ToolCall, prepared: Prepared, because: Because) -> Finished {
        let meta = prepared.tool.meta();
        let verdict = Some(Verdict::Allow { because: because.clone() });
        let standing = self.bracket().standing(&call);
        let policy = (standing.autonomy, standing.approval_policy);
        let key = self.0.cache.key(meta, &prepared.resolved, &prepared.context, policy);
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
            // A text with a secret in it is not stored; then a change cannot show the difference.
            let definition = prepared
                .tool
                .definition()
                .map(super::mcp::ToolDefinition::to_stored)
                .filter(|text| redactor.redact(text) == *text);
            answer.writes.push(StoreWrite::Pin {
                tool: meta.name.clone(),
                hash: pin.hash.clone(),
                definition,
            });
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

fn unknown(registry: &Registry, name: &str) -> ToolError {
    let near = registry.nearest(name);
    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    ToolError::new(Code::UnknownTool, format!("there is no tool {name}{hint}"))
}

fn code_named(name: &str) -> Code {
    match name {
        "secret_in_arguments" => Code::SecretInArguments,
        "denied" => Code::Denied,
        _ => Code::Refused,
    }
}
