//! The only way to call a tool: check, resolve, decide, record the intent, run, record the outcome.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::builtin::QuestionCache;
use super::call::{
    CallConclusion, CallConditions, CallHost, CallIntent, FinishedCall, PermissionAnswer,
    PermissionRequest, ToolInvocation,
};
use super::catalog::ToolCatalog;
use super::context::{PermitPool, ToolContext, ToolboxServices};
use super::mcp::{McpServerReport, McpServers};
use super::meta::ResolvedCall;
use super::permission::{PermissionInput, SandboxState, decide_permission};
use super::registry::ToolRegistry;
use super::repetition::RepetitionTracker;
use super::result_cache::ResultCache;
use super::secrets::{find_secret, find_secret_variable, redact_value};
use super::settings::ToolSettings;
use super::tool::{StoreWrite, Tool, ToolAnswer, ToolError, ToolErrorCode};
use super::tool_history::ToolObservation;
use super::workspace::Workspace;
use planwright_model::failure::is_error_of_work;
use planwright_model::permission::{GrantBasis, PermissionVerdict};
use planwright_model::{CallId, Digest};
use planwright_text::Redactor;

/// Everything that calls share. Cheap to clone.
#[derive(Clone)]
pub struct Toolbox(Arc<ToolboxInner>);

struct ToolboxInner {
    catalog: Arc<ToolCatalog>,
    parts: ToolboxParts,
    cache: ResultCache,
    question_cache: QuestionCache,
    calls: RepetitionTracker,
}

/// The parts of a toolbox.
pub struct ToolboxParts {
    pub registry: ToolRegistry,
    /// Servers whose tools are added to the registry when they are first needed.
    pub servers: McpServers,
    pub workspace: Arc<Workspace>,
    pub settings: ToolSettings,
    pub sandbox: super::sandbox::Sandbox,
    pub services: ToolboxServices,
    pub permits: PermitPool,
    pub redactor: Redactor,
    pub call_host: Arc<dyn CallHost>,
    /// Marks the processes of this session.
    pub session: String,
}

impl std::fmt::Debug for ToolboxParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolboxParts").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolbox").field("catalog", &self.0.catalog).finish_non_exhaustive()
    }
}

impl Toolbox {
    pub fn new(mut parts: ToolboxParts) -> Self {
        let registry = std::mem::take(&mut parts.registry);
        let servers = std::mem::take(&mut parts.servers);
        Self(Arc::new(ToolboxInner {
            catalog: Arc::new(ToolCatalog::new(registry, servers)),
            parts,
            cache: ResultCache::default(),
            question_cache: QuestionCache::default(),
            calls: RepetitionTracker::default(),
        }))
    }

    /// The same tools in another workspace, whose commands may read `readable` besides. Servers, permits and services are
    /// shared; what was read is not.
    #[must_use]
    pub fn with_workspace(
        &self,
        workspace: Arc<Workspace>,
        readable: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let parts = &self.0.parts;
        let mut settings = parts.settings.clone();
        settings.readable.extend(readable);
        Self(Arc::new(ToolboxInner {
            catalog: Arc::clone(&self.0.catalog),
            parts: ToolboxParts {
                registry: ToolRegistry::default(),
                servers: McpServers::default(),
                workspace,
                settings,
                sandbox: parts.sandbox.clone(),
                services: parts.services.clone(),
                permits: parts.permits.clone(),
                redactor: parts.redactor.clone(),
                call_host: Arc::clone(&parts.call_host),
                session: parts.session.clone(),
            },
            cache: ResultCache::default(),
            question_cache: QuestionCache::default(),
            calls: RepetitionTracker::default(),
        }))
    }

    pub(super) fn question_cache(&self) -> &QuestionCache {
        &self.0.question_cache
    }

    /// The tools available now.
    pub fn registry(&self) -> Arc<ToolRegistry> {
        self.0.catalog.registry()
    }

    /// Whether there is such a tool, or a server that may provide it once it is connected.
    pub fn can_offer(&self, name: &str) -> bool {
        self.registry().get(name).is_some() || self.0.catalog.has_server_for(name)
    }

    /// Connects to the servers on the first call, so that their tools can be listed and called.
    pub async fn connect_servers(&self) -> Vec<McpServerReport> {
        self.0.catalog.connect_servers().await
    }

    /// Stops the servers that were started.
    pub async fn stop_servers(&self) {
        self.0.catalog.stop_servers().await;
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

    /// Whether commands are confined in this workspace. One that contains our own files cannot protect them from
    /// commands.
    pub fn sandbox_state(&self) -> SandboxState {
        if self.0.parts.workspace.contains_forbidden() {
            let why = "the workspace holds the files of Planwright itself".to_owned();
            return SandboxState::NotEnforced { why };
        }
        self.0.parts.sandbox.state()
    }

    pub fn services(&self) -> &ToolboxServices {
        &self.0.parts.services
    }

    pub fn permits(&self) -> &PermitPool {
        &self.0.parts.permits
    }

    pub fn redactor(&self) -> &Redactor {
        &self.0.parts.redactor
    }

    pub fn call_host(&self) -> &dyn CallHost {
        self.0.parts.call_host.as_ref()
    }

    /// The mark that identifies the processes of a call.
    pub fn process_mark(&self, call: &CallId) -> String {
        format!("{}/{call}", self.0.parts.session)
    }

    /// Makes one call. There is no other way to start a tool.
    pub async fn invoke(&self, call: ToolInvocation) -> FinishedCall {
        self.0.catalog.refresh_outdated(&call.tool).await;
        let conditions = self.call_host().call_conditions(&call);
        let prepared = match self.prepare_call(&call, &conditions) {
            Ok(prepared) => prepared,
            Err(error) => return FinishedCall::from_error(error, None),
        };
        // The name is that of the tool, not what a model wrote for it.
        tracing::debug!(call = %call.id, tool = %prepared.tool.meta().name, "tool call");
        let (prepared, verdict) = match self.obtain_permission(&call, conditions, prepared).await {
            Ok(settled) => settled,
            Err((error, verdict)) => return FinishedCall::from_error(error, Some(verdict)),
        };
        self.execute_call(call, prepared, verdict).await
    }

    /// Everything that can be determined without asking or running.
    fn prepare_call(
        &self,
        call: &ToolInvocation,
        conditions: &CallConditions,
    ) -> Result<PreparedCall, ToolError> {
        let registry = self.registry();
        let tool =
            registry.get(&call.tool).ok_or_else(|| unknown_tool_error(&registry, &call.tool))?;
        self.prepare_with(tool, call, conditions)
    }

    /// The same with the tool given.
    fn prepare_with(
        &self,
        tool: &Arc<dyn Tool>,
        call: &ToolInvocation,
        conditions: &CallConditions,
    ) -> Result<PreparedCall, ToolError> {
        let meta = tool.meta();
        if !call.filter.admits(meta) {
            let message = format!("{} cannot be used here", meta.name);
            return Err(ToolError::new(ToolErrorCode::NotAllowedHere, message));
        }
        let checked = super::schema::check_args(&meta.schema, &call.args)
            .map_err(|message| ToolError::new(ToolErrorCode::BadArgs, message))?;
        if call.failed_args.as_ref() == Some(&Digest::from_json(&checked.args)) {
            let message = "the same arguments failed before; change something";
            return Err(ToolError::new(ToolErrorCode::SameArgs, message));
        }
        if let Some(missing) =
            meta.prerequisites.iter().find(|name| !conditions.produced.contains(*name))
        {
            let message = format!("{} needs `{missing}` first", meta.name);
            return Err(ToolError::new(ToolErrorCode::MissingPrerequisite, message));
        }
        if let Some(wait) = conditions.breaker_open_ms {
            let seconds = wait.div_ceil(1000);
            let message = format!("{} failed too often; try again in {seconds} s", meta.name);
            return Err(ToolError::new(ToolErrorCode::BreakerOpen, message));
        }
        let context = self.call_context(call);
        let resolved = tool.resolve(&checked.args, &context)?;
        Ok(PreparedCall {
            tool: Arc::clone(tool),
            resolved,
            context,
            unknown_fields: checked.unknown_fields,
            approved: false,
        })
    }

    fn call_context(&self, call: &ToolInvocation) -> ToolContext {
        ToolContext {
            toolbox: self.clone(),
            call: call.id.clone(),
            cancel: call.cancel.clone(),
            filter: call.filter.clone(),
            held: call.held.clone(),
            observer: call.observer.clone(),
            variables: call.variables.clone(),
            nested_usage: Arc::default(),
        }
    }

    /// Decides, asking the user if necessary, until there is an answer for the call as it is now.
    async fn obtain_permission(
        &self,
        call: &ToolInvocation,
        mut conditions: CallConditions,
        mut prepared: PreparedCall,
    ) -> Result<(PreparedCall, GrantBasis), (ToolError, PermissionVerdict)> {
        let repeated = self.0.calls.count_call(call.id.task.as_str(), &prepared.call_identity());
        loop {
            let verdict = self.decide_call(&conditions, &prepared, repeated);
            let (why, offers) = match verdict.clone() {
                PermissionVerdict::Allow { because } => return Ok((prepared, because)),
                PermissionVerdict::Ask { .. } if call.approved_before => {
                    prepared.approved = true;
                    return Ok((prepared, GrantBasis::Person));
                }
                PermissionVerdict::Refuse { code, why } => {
                    let mut error = ToolError::new(code_from_name(&code), why);
                    if error.code == ToolErrorCode::Denied {
                        error.category = planwright_model::Category::Recoverable;
                    }
                    return Err((error, verdict));
                }
                PermissionVerdict::Ask { why, offers } => (why, offers),
            };
            let binding = self.approval_binding(&prepared);
            let ask = PermissionRequest {
                call: call.id.clone(),
                tool: prepared.tool.meta().name.clone(),
                class: prepared.resolved.effect.risk_class(),
                resolved: prepared.resolved.clone(),
                why,
                offers,
                binding: binding.clone(),
                sandbox: self.sandbox_state(),
                asked_by: call.asked_by.clone(),
            };
            // Others work while the user decides. A canceled task does not wait for them.
            let ends = call.cancel.child_token();
            let asking = async {
                let answer = tokio::select! {
                    answer = self.call_host().ask_permission(&ask) => answer,
                    () = call.cancel.cancelled() => return None,
                };
                if answer == PermissionAnswer::Stop {
                    ends.cancel();
                }
                Some(answer)
            };
            let answer = call.held.release_while(self.permits(), &ends, asking).await;
            let Some(answer) = answer.filter(|_| !call.cancel.is_cancelled()) else {
                return Err((
                    ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled"),
                    verdict,
                ));
            };
            if let Some(error) = self.answer_refusal(&prepared, &answer) {
                return Err((error, verdict));
            }
            // Conditions may have changed while the user decided: the answer applies only to what was shown.
            conditions = self.call_host().call_conditions(call);
            let tool = Arc::clone(&prepared.tool);
            prepared = self
                .prepare_with(&tool, call, &conditions)
                .map_err(|error| (error, verdict.clone()))?;
            if self.approval_binding(&prepared) == binding {
                prepared.approved = true;
                return Ok((prepared, GrantBasis::Person));
            }
        }
    }

    /// Decides about a call that another program makes itself, asking the person if necessary. Its intent is durable
    /// when this returns; nothing is run here. The error says why the program may not make it.
    pub async fn authorize(
        &self,
        call: &ToolInvocation,
        action: super::agent_action::AgentAction,
    ) -> Result<GrantBasis, ToolError> {
        let tool: Arc<dyn Tool> = Arc::new(action);
        let conditions = self.call_host().call_conditions(call);
        let prepared = self.prepare_with(&tool, call, &conditions)?;
        let settled = self.obtain_permission(call, conditions, prepared).await;
        let (prepared, because) = settled.map_err(|(error, _)| error)?;
        let intent = prepared.intent(call, because.clone());
        let recorded = self.call_host().record_intent(&intent).await;
        recorded.map_err(|message| ToolError::new(ToolErrorCode::NotJournaled, message))?;
        Ok(because)
    }

    fn decide_call(
        &self,
        conditions: &CallConditions,
        prepared: &PreparedCall,
        repeated: u32,
    ) -> PermissionVerdict {
        let (args, redactor) = (&prepared.resolved.args, &self.0.parts.redactor);
        let secret_at = find_secret(args, redactor);
        let secret_variable = secret_at.as_ref().and_then(|_| find_secret_variable(args, redactor));
        decide_permission(&PermissionInput {
            tool: &prepared.tool.meta().name,
            resolved: &prepared.resolved,
            stage: conditions.stage,
            autonomy: conditions.autonomy,
            approval_policy: conditions.approval_policy,
            plan: conditions.plan.as_ref(),
            sandbox: &self.sandbox_state(),
            rules: &conditions.rules,
            grants: &conditions.grants,
            secret_at: secret_at.as_deref(),
            secret_variable: secret_variable.as_deref(),
            repeated,
            in_doubt: conditions.in_doubt,
            first_after_import: conditions.first_after_import,
        })
    }

    fn answer_refusal(
        &self,
        prepared: &PreparedCall,
        answer: &PermissionAnswer,
    ) -> Option<ToolError> {
        match answer {
            PermissionAnswer::Once
            | PermissionAnswer::Session { .. }
            | PermissionAnswer::Phase
            | PermissionAnswer::Always { .. } => None,
            PermissionAnswer::Deny { reason } => {
                let again = self.0.calls.record_denial(&prepared.call_identity());
                let code = if again { ToolErrorCode::Stopped } else { ToolErrorCode::Denied };
                let reason =
                    if reason.trim().is_empty() { "no reason given" } else { reason.trim() };
                Some(ToolError::new(code, format!("the person said no: {reason}")))
            }
            PermissionAnswer::Stop => {
                Some(ToolError::new(ToolErrorCode::Stopped, "the person stopped the task"))
            }
            PermissionAnswer::Nobody => Some(ToolError::new(
                ToolErrorCode::NeedsPerson,
                format!(
                    "{} needs an answer and nobody is there to give it",
                    prepared.tool.meta().name
                ),
            )),
        }
    }

    /// What an answer *once* is bound to: any change asks again.
    fn approval_binding(&self, prepared: &PreparedCall) -> Digest {
        let meta = prepared.tool.meta();
        Digest::from_json(&json!({
            "tool": meta.name,
            "version": meta.version,
            "resolved": prepared.resolved,
            "directory": self.0.parts.workspace.root().display().to_string(),
            "sandbox": self.sandbox_state(),
        }))
    }

    async fn execute_call(
        &self,
        call: ToolInvocation,
        prepared: PreparedCall,
        because: GrantBasis,
    ) -> FinishedCall {
        let meta = prepared.tool.meta();
        let verdict = Some(PermissionVerdict::Allow { because: because.clone() });
        let conditions = self.call_host().call_conditions(&call);
        let policy = (conditions.autonomy, conditions.approval_policy);
        let key = self.0.cache.key_for(meta, &prepared.resolved, &prepared.context, policy);
        if let Some(result) = key.as_ref().and_then(|key| self.0.cache.get(key)) {
            return FinishedCall {
                result,
                cache_hit: true,
                verdict,
                protected_changes: Vec::new(),
            };
        }
        let intent = prepared.intent(&call, because);
        if let Err(message) = self.call_host().record_intent(&intent).await {
            return FinishedCall::from_error(
                ToolError::new(ToolErrorCode::NotJournaled, message),
                verdict,
            );
        }
        let begun = Instant::now();
        let answer = run_tool(&prepared, &call.cancel).await;
        let conclusion = self.build_conclusion(&call, &prepared, answer, begun.elapsed());
        if prepared.resolved.effect.has_external_effect() {
            self.0.cache.invalidate_touched(&prepared.resolved);
        }
        if let Err(message) = self.call_host().record_conclusion(&conclusion).await {
            return FinishedCall::from_error(
                ToolError::new(ToolErrorCode::NotJournaled, message),
                verdict,
            );
        }
        if let Some(key) = key {
            self.0.cache.put(key, &conclusion.result);
        }
        FinishedCall {
            result: conclusion.result,
            cache_hit: false,
            verdict,
            protected_changes: conclusion.protected_changes,
        }
    }

    fn build_conclusion(
        &self,
        call: &ToolInvocation,
        prepared: &PreparedCall,
        mut answer: ToolAnswer,
        elapsed: Duration,
    ) -> CallConclusion {
        let meta = prepared.tool.meta();
        let redactor = &self.0.parts.redactor;
        let mut data = Value::Object(std::mem::take(&mut answer.result.data));
        redact_value(&mut data, redactor);
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
        let code = answer.result.to_failure().map(|failure| failure.code);
        // A red test or a wrong path shows something about the work or the caller, and a canceled call about nobody.
        let teaches = !code.as_deref().is_some_and(is_error_of_work);
        if teaches {
            answer.writes.push(StoreWrite::History(ToolObservation {
                tool: meta.name.clone(),
                affinity: call.choice.as_ref().map(|choice| choice.affinity.score),
                ok: answer.result.ok,
                confidence: answer.result.confidence,
                latency_ms: elapsed.as_secs_f64() * 1000.0,
                code,
            }));
        }
        if let Some(pin) = prepared.resolved.pin.as_ref().filter(|_| prepared.approved) {
            // A definition that contains a secret is not stored; a later change then cannot be shown as a difference.
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
        CallConclusion {
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
struct PreparedCall {
    tool: Arc<dyn Tool>,
    resolved: ResolvedCall,
    context: ToolContext,
    unknown_fields: Vec<String>,
    /// The user approved it.
    approved: bool,
}

impl PreparedCall {
    /// What is journaled before the call starts.
    fn intent(&self, call: &ToolInvocation, because: GrantBasis) -> CallIntent {
        let meta = self.tool.meta();
        CallIntent {
            call: call.id.clone(),
            tool: meta.name.clone(),
            version: meta.version.clone(),
            args: self.resolved.args.clone(),
            args_hash: Digest::from_json(&self.resolved.args),
            class: self.resolved.effect.risk_class(),
            repeat: meta.repeat,
            resolved: self.resolved.clone(),
            because,
            choice: call.choice.clone(),
        }
    }

    /// Tool and arguments: two calls with the same identity are the same call.
    fn call_identity(&self) -> Digest {
        let meta = self.tool.meta();
        Digest::from_json(&json!({ "tool": meta.name, "args": self.resolved.args }))
    }
}

/// Runs within the time limit. A panic fails only this call.
async fn run_tool(prepared: &PreparedCall, cancel: &CancellationToken) -> ToolAnswer {
    let limit = prepared.tool.meta().time_limit;
    let work =
        AssertUnwindSafe(prepared.tool.call(&prepared.resolved, &prepared.context)).catch_unwind();
    // Tools that run commands stop them themselves and report more; the grace period allows for that.
    let grace = Duration::from_secs(5);
    tokio::select! {
        // The panic hook has logged where it happened.
        answer = work => answer.unwrap_or_else(|_| {
            ToolError::new(ToolErrorCode::Internal, "the tool failed in a way it should not").into()
        }),
        () = tokio::time::sleep(limit + grace) => {
            let seconds = limit.as_secs();
            ToolError::new(ToolErrorCode::Timeout, format!("it took longer than {seconds} s")).into()
        }
        () = async { cancel.cancelled().await; tokio::time::sleep(grace).await } => {
            ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled").into()
        }
    }
}

fn unknown_tool_error(registry: &ToolRegistry, name: &str) -> ToolError {
    if let Some(why) = super::builtin::missing_feature_text(name) {
        return ToolError::new(ToolErrorCode::UnknownTool, why);
    }
    let near = registry.nearest_name(name);
    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    ToolError::new(ToolErrorCode::UnknownTool, format!("there is no tool {name}{hint}"))
}

fn code_from_name(name: &str) -> ToolErrorCode {
    match name {
        "secret_in_arguments" => ToolErrorCode::SecretInArguments,
        "denied" => ToolErrorCode::Denied,
        _ => ToolErrorCode::Refused,
    }
}
