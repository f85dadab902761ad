//! Shell tasks as local processes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{AttemptEventSink, AttemptOutcome, AttemptWork, TaskAttempt, TaskExecutor};
use crate::permission::SandboxState;
use crate::process::{self, LaunchMode, ProcessSpec};
use crate::sandbox::{CommandConfinement, Sandbox};
use crate::settings::ToolSettings;
use planwright_model::event::CallOutcome;
use planwright_model::{RunKind, SandboxChoice, TaskNode};
use planwright_text::Redactor;

/// What a command may keep of its output, unless it is the model that reads it.
const OUTPUT_LIMIT: usize = 1024 * 1024;
/// The shortest default time limit of a person's own command.
const DEFAULT_LIMIT: Duration = Duration::from_secs(3600);

/// Runs shell tasks as the person's own commands: in the workspace, with their environment less provider keys. Those that
/// are to be confined run as a model's commands do.
#[derive(Clone, Debug)]
pub struct LocalProcessExecutor {
    redactor: Redactor,
    without: Vec<String>,
    sandbox: Sandbox,
    settings: Arc<ToolSettings>,
}

impl LocalProcessExecutor {
    /// `without` names the variables that commands must not see.
    pub fn new(redactor: Redactor, without: Vec<String>) -> Self {
        let sandbox = Sandbox::with_current_program();
        Self { redactor, without, sandbox, settings: Arc::default() }
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
    ) -> Result<CommandConfinement, String> {
        let roots = [attempt.workspace.clone()];
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

    fn process_spec(&self, attempt: &TaskAttempt, command: &str) -> ProcessSpec {
        let own = attempt.task.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        ProcessSpec {
            command: command.to_owned(),
            shell: attempt.task.shell.clone(),
            directory: attempt.workspace.join(&attempt.task.cwd),
            without: self.without.clone(),
            with: own
                .chain([
                    (process::CALL_VARIABLE.to_owned(), attempt.process_mark()),
                    (process::OWNER_VARIABLE.to_owned(), process::PERSON.to_owned()),
                ])
                .collect(),
            time_limit: time_limit(&attempt.task),
            output_limit: OUTPUT_LIMIT,
            redactor: self.redactor.clone(),
            launch: LaunchMode::Person,
        }
    }
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

/// The stated limit, else the larger of one hour and twice the stated duration.
fn time_limit(task: &TaskNode) -> Duration {
    match (task.timeout_seconds, task.duration_minutes) {
        (Some(seconds), _) => Duration::from_secs(seconds),
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
        let mut spec = self.process_spec(attempt, command);
        if !attempt.confined {
            return process::run_command(spec, cancel, events).await;
        }
        match self.confine_command(attempt, &mut spec) {
            // The cell is there until the command is not.
            Ok(_cell) => process::run_command(spec, cancel, events).await,
            Err(message) => AttemptOutcome::could_not_start(message),
        }
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

    fn sandbox_state(&self) -> SandboxState {
        self.sandbox.state()
    }

    fn tool_identity(&self, _task: &TaskNode) -> (&'static str, &'static str) {
        ("shell", "1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::conformance::{ConformanceCase, ConformanceTasks, check_executor};

    struct ShellTasks;

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
            task.timeout_seconds = Some(if case == ConformanceCase::Overrun { 1 } else { 100 });
            Some(task)
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn local_processes_pass_the_conformance_suite() {
        let executor = LocalProcessExecutor::new(Redactor::default(), Vec::new());
        let workspace = std::env::temp_dir();
        check_executor(Arc::new(executor), &ShellTasks, &workspace).await;
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
