//! Shell tasks as local processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::attempt_setup::{AttemptSetup, attempt_variables};
use super::results::{OUTPUT_VARIABLE, ResultPlace, ResultStore, push_last_lines};
use super::secret_vault::SecretVault;
use super::service::run_service;
use super::task_cache::{CachedAttempt, TaskCache};
use super::{
    AttemptEvent, AttemptEventSink, AttemptOutcome, AttemptReport, AttemptWork, CommandLauncher,
    TaskAttempt, TaskExecutor,
};
use crate::permission::SandboxState;
use crate::process::{
    self, IdlePipes, LaunchMode, ProcessSpec, SpareReader, SpoolTarget, TerminalLender,
};
use crate::sandbox::{CommandConfinement, Sandbox};
use crate::settings::ToolSettings;
use planwright_model::event::{CallOutcome, OutputStream};
use planwright_model::trace_ids::call_trace_parent;
use planwright_model::{
    CallId, Category, ExecutionFailure, RunKind, SandboxChoice, SecretSource, SessionId, TaskNode,
    TaskOutputSource, TaskResults,
};
use planwright_spool::SpoolDirectory;
use planwright_text::Redactor;

/// What is kept of a command's output where there is no spool.
const OUTPUT_LIMIT: usize = 1024 * 1024;
/// The shortest default time limit of a person's own command.
const DEFAULT_LIMIT: Duration = Duration::from_secs(3600);

/// The time limit of a service, which ends when nobody needs it any more, and of a command that a person works with.
const NO_LIMIT: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Why a command that needs a terminal cannot start.
pub const NO_TERMINAL: &str = "it needs a terminal, and this run has no screen; resume the session on a terminal and retry the task";

/// Runs shell tasks as the person's own commands: in the workspace, with their environment less provider keys. Those that
/// are to be confined run as a model's commands do.
#[derive(Clone, Debug)]
pub struct LocalProcessExecutor {
    redactor: Redactor,
    without: Vec<String>,
    sandbox: Sandbox,
    settings: Arc<ToolSettings>,
    /// Where attempts keep what they leave behind.
    results: Option<ResultStore>,
    cache: Option<TaskCache>,
    secrets: Arc<SecretVault>,
    /// Who lends the terminal to commands that need one.
    terminal: Option<Arc<dyn TerminalLender>>,
    /// Where all output is kept, and how much of one attempt.
    spools: Option<(SpoolDirectory, u64)>,
    /// Who reads on what commands print when this program is killed.
    spare_reader: Option<SpareReader>,
    /// Pipes of commands that have ended, for the next ones.
    idle_pipes: IdlePipes,
    /// What carries commands to the executors that tasks name.
    launchers: Arc<BTreeMap<String, CommandLauncher>>,
}

impl LocalProcessExecutor {
    /// `without` names the variables that commands must not see.
    pub fn new(redactor: Redactor, without: Vec<String>) -> Self {
        let sandbox = Sandbox::with_current_program();
        Self {
            redactor,
            without,
            sandbox,
            settings: Arc::default(),
            results: None,
            cache: None,
            secrets: Arc::default(),
            terminal: None,
            spools: None,
            spare_reader: None,
            idle_pipes: IdlePipes::default(),
            launchers: Arc::default(),
        }
    }

    /// Has another process of this program read on what commands print when this one is killed. Only for a program whose
    /// `main` knows that part.
    pub fn with_spare_reader(self, reader: Option<SpareReader>) -> Self {
        Self { spare_reader: reader, ..self }
    }

    /// Keeps all output in spools, up to so many bytes for each attempt.
    pub fn with_spools(self, directory: SpoolDirectory, cap: u64) -> Self {
        Self { spools: Some((directory, cap)), ..self }
    }

    /// Where attempts keep what they leave behind, and where finished ones are remembered.
    pub fn with_results(self, results: ResultStore, cache: Option<TaskCache>) -> Self {
        Self { results: Some(results), cache, ..self }
    }

    /// The values of the secrets that tasks ask for.
    pub fn with_secrets(self, secrets: Vec<(SecretSource, String)>) -> Self {
        Self { secrets: Arc::new(SecretVault::new(secrets)), ..self }
    }

    /// Who lends the terminal to commands that need one.
    pub fn with_terminal(self, lender: Arc<dyn TerminalLender>) -> Self {
        Self { terminal: Some(lender), ..self }
    }

    /// What carries commands to the executors that tasks name.
    pub fn with_launchers(self, launchers: BTreeMap<String, CommandLauncher>) -> Self {
        Self { launchers: Arc::new(launchers), ..self }
    }

    /// What carries the commands of a task to where they run. None for this machine.
    fn find_launcher(&self, task: &TaskNode) -> Result<Option<CommandLauncher>, String> {
        let name = &task.options.executor;
        if name.is_empty() {
            return Ok(None);
        }
        let found = self.launchers.get(name).cloned();
        let missing = || {
            format!("the executor {name} is not set up here: add [executors.{name}] to the config")
        };
        found.map(Some).ok_or_else(missing)
    }

    /// What confined commands may touch beside the workspace.
    pub fn with_settings(self, settings: ToolSettings) -> Self {
        Self { settings: Arc::new(settings), ..self }
    }

    /// Puts a command into a cell. The plan's own change request for one is not given up where there is none.
    fn confine_command(
        &self,
        attempt: &TaskAttempt,
        spec: &mut ProcessSpec,
        place: Option<&ResultPlace>,
    ) -> Result<CommandConfinement, String> {
        let own = place.map(|place| place.directory.clone());
        let roots = [attempt.workspace.clone()].into_iter().chain(own);
        let cell = CommandConfinement::prepare(&self.sandbox, &self.settings, roots, false)
            .map_err(|error| format!("confining the command: {error}"))?;
        if let (SandboxState::NotEnforced { why }, SandboxChoice::Workspace) =
            (self.sandbox.state(), attempt.task.sandbox)
        {
            return Err(format!("the task asks for a sandbox and there is none here: {why}"));
        }
        spec.launch = cell.launch_mode();
        // What is confined runs as a model's command does, and may not act for the person.
        spec.with.retain(|(name, _)| name != process::OWNER_VARIABLE);
        Ok(cell)
    }

    fn process_spec(
        &self,
        attempt: &TaskAttempt,
        command: &str,
        setup: &AttemptSetup,
        launcher: Option<CommandLauncher>,
    ) -> ProcessSpec {
        let own = setup.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        let output = setup.place.as_ref().map(|place| {
            let file = place.output_file().to_string_lossy().into_owned();
            (OUTPUT_VARIABLE.to_owned(), file)
        });
        let trace = call_trace_parent(&attempt.session, &attempt.call);
        ProcessSpec {
            command: command.to_owned(),
            shell: attempt.task.shell.clone(),
            directory: attempt.workspace.join(&attempt.task.cwd),
            without: self.without.clone(),
            with: std::iter::once(("TRACEPARENT".to_owned(), trace))
                .chain(own)
                .chain(output)
                .chain([
                    (process::CALL_VARIABLE.to_owned(), attempt.process_mark()),
                    (process::OWNER_VARIABLE.to_owned(), process::PERSON.to_owned()),
                ])
                .collect(),
            time_limit: time_limit(&attempt.task),
            output_limit: OUTPUT_LIMIT,
            spool: self.spool_target(&attempt.session, &attempt.call),
            redactor: self.redactor.clone(),
            launch: LaunchMode::Person,
            launcher,
            stop: attempt.task.options.service.as_ref().map(|one| one.stop).unwrap_or_default(),
        }
    }

    /// Where the output of a call is kept.
    fn spool_target(&self, session: &SessionId, call: &CallId) -> Option<SpoolTarget> {
        let (directory, cap) = self.spools.as_ref()?;
        Some(SpoolTarget {
            directory: directory.clone(),
            session: session.clone(),
            call: call.clone(),
            cap: *cap,
            spare_reader: self.spare_reader.clone(),
            idle_pipes: self.idle_pipes.clone(),
        })
    }

    /// The secrets of an attempt. A command that prints one ends with the attempt: when it is stopped, and at its time limit.
    async fn find_secrets(
        &self,
        attempt: &TaskAttempt,
        cancel: &CancellationToken,
    ) -> Result<Vec<(String, String)>, CallOutcome> {
        if attempt.task.options.secrets.is_empty() {
            return Ok(Vec::new());
        }
        let lender = self.terminal.as_deref();
        let limit = time_limit(&attempt.task);
        let stopped = tokio::select! {
            found = self.secrets.find_values(attempt, lender, &self.redactor) => {
                return found.map_err(|message| CallOutcome::CouldNotStart { message });
            }
            () = cancel.cancelled() => CallOutcome::Cancelled,
            () = tokio::time::sleep(limit) => {
                CallOutcome::TimedOut { limit_seconds: limit.as_secs() }
            }
        };
        let mark = attempt.process_mark();
        if let Err(error) = tokio::task::spawn_blocking(move || process::end_leftovers(&mark)).await
        {
            tracing::error!(%error, "the command of a secret could not be ended");
        }
        Err(stopped)
    }

    /// What an attempt needs beside its command.
    fn prepare_attempt(
        &self,
        attempt: &TaskAttempt,
        secrets: Vec<(String, String)>,
    ) -> Result<AttemptSetup, String> {
        let variables = attempt_variables(attempt, secrets, &self.redactor)?;
        let place = match &self.results {
            _ if attempt.work != AttemptWork::Task || !needs_place(&attempt.task) => None,
            None => return Err("there is no place here to keep what the task leaves".to_owned()),
            Some(results) => {
                let directory = results.attempt_directory(&attempt.session, &attempt.call);
                let (workspace, base) =
                    (attempt.workspace.clone(), attempt.workspace.join(&attempt.task.cwd));
                let place = ResultPlace { directory, workspace, base };
                place.prepare()?;
                Some(place)
            }
        };
        let mut setup = AttemptSetup { variables, place, cache_key: None };
        if attempt.task.options.cache && self.cache.is_some() && setup.place.is_some() {
            let launcher = self.find_launcher(&attempt.task)?;
            setup.cache_key = Some(setup.find_cache_key(attempt, launcher.as_ref())?);
        }
        Ok(setup)
    }

    /// Runs the command of an attempt that is prepared.
    async fn run_prepared(
        &self,
        attempt: &TaskAttempt,
        command: &str,
        setup: &AttemptSetup,
        events: &AttemptEventSink,
        cancel: CancellationToken,
        printed: &mut String,
    ) -> AttemptOutcome {
        let launcher = match self.find_launcher(&attempt.task) {
            Ok(launcher) => launcher,
            Err(message) => return AttemptOutcome::could_not_start(message),
        };
        let is_elsewhere = launcher.is_some();
        let mut spec = self.process_spec(attempt, command, setup, launcher);
        let mut cell = None;
        if attempt.confined {
            if is_elsewhere {
                let why = "a command that is confined cannot run on an executor";
                return AttemptOutcome::could_not_start(why);
            }
            match self.confine_command(attempt, &mut spec, setup.place.as_ref()) {
                Ok(made) => cell = Some(made),
                Err(message) => return AttemptOutcome::could_not_start(message),
            }
        }
        let keeps = KeepsPrinted::for_task(&attempt.task);
        let outcome = match &attempt.task.options.service {
            Some(service) if attempt.work == AttemptWork::Task => {
                run_service(service, spec, attempt.call.clone(), events, cancel).await
            }
            _ if attempt.task.options.interactive && attempt.work == AttemptWork::Task => {
                if cell.is_some() {
                    let why = "a command that is confined cannot have the terminal";
                    return AttemptOutcome::could_not_start(why);
                }
                let Some(lender) = self.terminal.as_deref() else {
                    return AttemptOutcome::could_not_start(NO_TERMINAL);
                };
                let title = attempt.task.description.as_str();
                let run = |sink| process::run_on_terminal(spec, title, lender, cancel, sink);
                run_and_keep_end(run, &attempt.call, events, (keeps, printed)).await
            }
            _ => {
                let run = |sink| process::run_command(spec, cancel, sink);
                run_and_keep_end(run, &attempt.call, events, (keeps, printed)).await
            }
        };
        // The cell is there until the command is not.
        drop(cell);
        outcome
    }

    /// Collects what a command left behind once it succeeded. What is missing fails the attempt.
    async fn keep_results(
        &self,
        attempt: &TaskAttempt,
        setup: AttemptSetup,
        events: &AttemptEventSink,
        printed: String,
        outcome: &mut AttemptOutcome,
    ) {
        let Some(place) = setup.place else { return };
        let (task, redactor) = (attempt.task.clone(), self.redactor.clone());
        let kept = place.clone();
        let collect = move || kept.collect(&task, &printed, &redactor);
        let collected = tokio::task::spawn_blocking(collect).await;
        let collected = collected.unwrap_or_else(|error| Err(error.to_string()));
        match collected {
            Ok(results) => {
                if let (Some(cache), Some(key)) = (&self.cache, setup.cache_key) {
                    let origin = format!("session {}", attempt.session.short_id());
                    let (directory, results) = (place.directory, results.clone());
                    let cached = CachedAttempt { origin, directory, results };
                    if attempt.task.has_checks() {
                        cache.remember_when_confirmed(attempt, key, cached);
                    } else {
                        cache.remember(&key, &cached);
                    }
                }
                if results != TaskResults::default() {
                    // The session is over if nobody listens any more.
                    let _ = events.send(AttemptEvent::Results { results, reused: None }).await;
                }
            }
            Err(message) => {
                let failure = ExecutionFailure::new("results_missing", Category::Critical, message);
                outcome.outcome = CallOutcome::Errored { failure };
            }
        }
    }

    /// Leaves out an attempt that would only repeat a finished one. What is tried again really runs.
    async fn reuse_attempt(
        &self,
        attempt: &TaskAttempt,
        setup: &AttemptSetup,
        events: &AttemptEventSink,
    ) -> Option<AttemptOutcome> {
        if attempt.call.attempt > 1 {
            return None;
        }
        let (cache, key) = (self.cache.as_ref()?, setup.cache_key.as_ref()?);
        let found = cache.find(key, setup.place.as_ref()?)?;
        let (results, reused) = (found.results, Some(found.origin));
        let _ = events.send(AttemptEvent::Results { results, reused }).await;
        Some(AttemptOutcome::without_output(CallOutcome::Exited { code: 0 }))
    }
}

/// Whether anybody looks at the last line that a command printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeepsPrinted {
    Yes,
    No,
}

impl KeepsPrinted {
    fn for_task(task: &TaskNode) -> Self {
        let mut outputs = task.options.outputs.values();
        if outputs.any(|source| *source == TaskOutputSource::LastLine) {
            Self::Yes
        } else {
            Self::No
        }
    }
}

/// Runs a command and keeps the end of what it prints, as it goes to the journal.
async fn run_and_keep_end<F: Future<Output = AttemptOutcome>>(
    run: impl FnOnce(AttemptEventSink) -> F,
    call: &CallId,
    events: &AttemptEventSink,
    (keeps, printed): (KeepsPrinted, &mut String),
) -> AttemptOutcome {
    if keeps == KeepsPrinted::No {
        return run(events.clone()).await;
    }
    let (sender, mut receiver) = mpsc::channel(16);
    let running = run(AttemptEventSink::new(call.clone(), sender));
    let forward = async {
        while let Some((_, report)) = receiver.recv().await {
            let AttemptReport::Event(event) = report else { return };
            if let AttemptEvent::Output { stream: OutputStream::Stdout, text }
            | AttemptEvent::Spooled { stream: OutputStream::Stdout, text, .. } = &event
            {
                push_last_lines(printed, text);
            }
            // The session is over if nobody listens any more.
            let _ = events.send(event).await;
        }
    };
    tokio::join!(running, forward).0
}

/// Whether an attempt needs a place for what it leaves behind.
fn needs_place(task: &TaskNode) -> bool {
    task.options.leaves_results() || task.options.cache
}

/// A directory of its own must be there, and inside the workspace also where links lead elsewhere.
fn check_directory(attempt: &TaskAttempt) -> Result<(), String> {
    let stated = &attempt.task.cwd;
    if stated.is_empty() {
        return Ok(());
    }
    let directory = attempt.workspace.join(stated);
    let found = directory.canonicalize().ok().filter(|path| path.is_dir());
    let Some(found) = found else { return Err(format!("there is no directory {stated}")) };
    let workspace = attempt.workspace.canonicalize().unwrap_or_else(|_| attempt.workspace.clone());
    if found.starts_with(workspace) {
        Ok(())
    } else {
        Err(format!("the directory {stated} leads out of the workspace"))
    }
}

/// The stated limit, else the larger of one hour and twice the stated duration. A service has none of its own,
/// nor has a command that a person works with.
fn time_limit(task: &TaskNode) -> Duration {
    match (task.timeout_seconds, task.duration_minutes) {
        (Some(seconds), _) => Duration::from_secs(seconds),
        (None, _) if task.options.service.is_some() || task.options.interactive => NO_LIMIT,
        (None, Some(minutes)) => DEFAULT_LIMIT.max(Duration::from_secs(u64::from(minutes) * 120)),
        (None, None) => DEFAULT_LIMIT,
    }
}

impl LocalProcessExecutor {
    async fn run_attempt(
        &self,
        attempt: &TaskAttempt,
        events: AttemptEventSink,
        cancel: CancellationToken,
    ) -> AttemptOutcome {
        let command = match (&attempt.work, &attempt.task.run) {
            (AttemptWork::CheckFile(path), _) => {
                let found = attempt.workspace.join(&attempt.task.cwd).join(path).exists();
                let outcome = CallOutcome::Exited { code: i32::from(!found) };
                return AttemptOutcome::without_output(outcome);
            }
            (AttemptWork::CheckCommand(command), _)
            | (AttemptWork::Task, RunKind::Shell(command)) => command,
            (AttemptWork::Task, _) => {
                let message = format!("{} is not a shell task", attempt.task.id);
                return AttemptOutcome::could_not_start(message);
            }
        };
        if let Err(message) = check_directory(attempt) {
            return AttemptOutcome::could_not_start(message);
        }
        let secrets = match self.find_secrets(attempt, &cancel).await {
            Ok(secrets) => secrets,
            Err(outcome) => return AttemptOutcome::without_output(outcome),
        };
        let setup = match self.prepare_attempt(attempt, secrets) {
            Ok(setup) => setup,
            Err(message) => return AttemptOutcome::could_not_start(message),
        };
        if let Some(outcome) = self.reuse_attempt(attempt, &setup, &events).await {
            return outcome;
        }
        let mut printed = String::new();
        let mut outcome =
            self.run_prepared(attempt, command, &setup, &events, cancel, &mut printed).await;
        if outcome.outcome == (CallOutcome::Exited { code: 0 }) {
            self.keep_results(attempt, setup, &events, printed, &mut outcome).await;
        }
        outcome
    }
}

impl TaskExecutor for LocalProcessExecutor {
    fn start(
        &self,
        attempt: TaskAttempt,
        events: AttemptEventSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, AttemptOutcome> {
        Box::pin(async move { self.run_attempt(&attempt, events, cancel).await })
    }

    fn confirm_attempt(&self, session: &SessionId, call: &CallId) {
        if let Some(cache) = &self.cache {
            cache.confirm(session, call);
        }
    }

    fn collect_leftover_output<'a>(
        &'a self,
        session: &'a SessionId,
        call: &'a CallId,
        task: &'a TaskNode,
        journaled: u64,
        events: AttemptEventSink,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // A value that a command printed before the crash is unknown now, so nothing could cover it.
            let mut secrets = task.options.secrets.values();
            let text = if secrets.any(|source| matches!(source, SecretSource::Command(_))) {
                process::LeftoverText::Discarded
            } else {
                process::LeftoverText::Kept
            };
            if let Some(target) = self.spool_target(session, call) {
                let collected = process::collect_leftover_output(
                    target,
                    &self.redactor,
                    &events,
                    text,
                    journaled,
                );
                collected.await;
            }
        })
    }

    fn sandbox_state(&self) -> SandboxState {
        self.sandbox.state()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.idle_pipes.clear();
        Box::pin(std::future::ready(()))
    }

    fn tool_identity(&self, _task: &TaskNode) -> (&'static str, &'static str) {
        ("shell", "1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::conformance::{ConformanceCase, ConformanceTasks, check_executor};

    /// Commands for each case, on an executor or on this machine.
    struct ShellTasks {
        executor: &'static str,
    }

    impl ConformanceTasks for ShellTasks {
        fn task_for(&self, case: ConformanceCase) -> Option<TaskNode> {
            let command = match case {
                ConformanceCase::Succeed => "echo done",
                ConformanceCase::Fail => "exit 3",
                ConformanceCase::Hang | ConformanceCase::Overrun => "trap '' TERM; sleep 300",
                ConformanceCase::PrintInOrder => {
                    "i=0; while [ $i -lt 50 ]; do echo $i; echo $((i+1)) >&2; i=$((i+2)); done"
                }
                ConformanceCase::PrintTooMuch => "head -c 3000000 /dev/zero | tr '\\0' x",
                // A command cannot make the executor panic; whoever wraps one may.
                ConformanceCase::Panic => return None,
            };
            let mut task = TaskNode::new("a", "A command");
            task.run = RunKind::Shell(command.to_owned());
            task.options.executor = self.executor.to_owned();
            task.timeout_seconds = Some(if case == ConformanceCase::Overrun { 1 } else { 100 });
            Some(task)
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn local_processes_pass_the_conformance_suite() {
        let executor = LocalProcessExecutor::new(Redactor::default(), Vec::new());
        let workspace = std::env::temp_dir();
        check_executor(Arc::new(executor), &ShellTasks { executor: "" }, &workspace).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn launchers_pass_the_conformance_suite() {
        let workspace = std::env::temp_dir();
        for launch in [["env", "REACHED=1", "{argv}"], ["sh", "-c", "{command}"]] {
            let launcher = CommandLauncher::parse(&launch.map(str::to_owned)).unwrap();
            let executor = LocalProcessExecutor::new(Redactor::default(), Vec::new())
                .with_launchers([("far".to_owned(), launcher)].into());
            check_executor(Arc::new(executor), &ShellTasks { executor: "far" }, &workspace).await;
        }
    }

    #[test]
    fn the_time_limit_is_the_larger_of_an_hour_and_twice_the_duration() {
        let mut task = TaskNode::new("a", "x");
        assert_eq!(time_limit(&task), Duration::from_secs(3600));
        task.duration_minutes = Some(45);
        assert_eq!(time_limit(&task), Duration::from_secs(5400));
        task.timeout_seconds = Some(7);
        assert_eq!(time_limit(&task), Duration::from_secs(7));
    }
}
