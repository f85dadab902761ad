//! Carrying out one attempt at a task, behind a trait so that tests and benchmarks can bring their own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use planwright_agents::DependencyResult;
use planwright_model::event::CallOutcome;
use planwright_model::{CallId, RunKind, SandboxChoice, SessionId, TaskNode};
use planwright_state::AgentProgress;
use planwright_state::PlanRevision;
use planwright_text::Redactor;
use planwright_tools::ToolSettings;
use planwright_tools::permission::SandboxState;
use planwright_tools::process::{self, CallReport, CallReporter, LaunchMode, ProcessSpec};
use planwright_tools::sandbox::{CommandConfinement, Sandbox};

/// What a command may keep of its output, unless it is the model that reads it.
const OUTPUT_LIMIT: usize = 1024 * 1024;
/// The shortest default time limit of a person's own command.
const DEFAULT_LIMIT: Duration = Duration::from_secs(3600);

/// A task of a plan revision, shared instead of copied: plans are large and tasks start often.
#[derive(Clone, Debug)]
pub struct TaskRef {
    plan: Arc<PlanRevision>,
    position: usize,
}

impl TaskRef {
    /// The task at a position, if the plan has it.
    pub fn new(plan: &Arc<PlanRevision>, position: usize) -> Option<Self> {
        let exists = position < plan.plan.tasks.len();
        exists.then(|| Self { plan: Arc::clone(plan), position })
    }
}

impl std::ops::Deref for TaskRef {
    type Target = TaskNode;

    fn deref(&self) -> &TaskNode {
        &self.plan.plan.tasks[self.position]
    }
}

/// What is to be done for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobWork {
    /// The task itself.
    Attempt,
    /// A command that tells by its success whether an exit criterion is met.
    CheckCommand(String),
    /// Whether a file exists, seen from the workspace.
    CheckFile(String),
}

/// One attempt at a task, or a check after it.
#[derive(Clone, Debug)]
pub struct Job {
    pub session: SessionId,
    pub call: CallId,
    pub task: TaskRef,
    pub work: JobWork,
    pub workspace: PathBuf,
    /// Whether a command is kept to the workspace and sees variables of no account alone: a model wrote it, it came from
    /// elsewhere, or the plan says so.
    pub confined: bool,
    /// What an agent is told beside its task.
    pub brief: Option<Box<AgentBrief>>,
}

/// What an agent knows when it begins.
#[derive(Clone, Debug, Default)]
pub struct AgentBrief {
    pub goal: Option<String>,
    /// What came of the tasks that it depends on.
    pub context: Vec<DependencyResult>,
    /// The plan around the task, a line for each task that matters to it.
    pub overview: Vec<String>,
    /// How far an interrupted attempt had come.
    pub past: Option<AgentProgress>,
}

impl Job {
    /// What marks the processes of this call among all others.
    pub fn process_mark(&self) -> String {
        format!("{}/{}", self.session, self.call)
    }
}

/// Carries out attempts.
pub trait JobRunner: Send + Sync {
    /// The whole attempt. It reports until it ended; cancelling must lead to a prompt end. A panic in it fails this
    /// attempt and nothing else.
    fn run(
        &self,
        job: Job,
        cancel: CancellationToken,
        reports: CallReporter,
    ) -> BoxFuture<'static, ()>;

    /// Whether tasks of agents can be carried out.
    fn runs_agents(&self) -> bool {
        false
    }

    /// Ends what outlives single attempts, once the session is over.
    fn close(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Name and version of the tool that carries the task out.
    fn tool_identity(&self, task: &TaskNode) -> (&'static str, &'static str);

    /// Whether commands can be confined here.
    fn sandbox_state(&self) -> SandboxState {
        SandboxState::Enforced
    }

    /// Whether an agent could be given the tool here: it is registered and set up.
    fn has_tool(&self, _name: &str) -> bool {
        true
    }
}

/// Runs shell tasks as the person's own commands: in the workspace, with their environment less provider keys. Those that
/// are to be confined run as a model's commands do.
#[derive(Clone, Debug)]
pub struct ShellRunner {
    redactor: Redactor,
    without: Vec<String>,
    sandbox: Sandbox,
    settings: Arc<ToolSettings>,
}

impl ShellRunner {
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
        job: &Job,
        spec: &mut ProcessSpec,
    ) -> Result<CommandConfinement, String> {
        let roots = [job.workspace.clone()];
        let cell = CommandConfinement::prepare(&self.sandbox, &self.settings, roots, false)
            .map_err(|error| format!("confining the command: {error}"))?;
        if let (SandboxState::NotEnforced { why }, SandboxChoice::Workspace) =
            (self.sandbox.state(), job.task.sandbox)
        {
            return Err(format!("the task asks for a sandbox and there is none here: {why}"));
        }
        spec.launch = cell.launch_mode();
        // What is confined runs as a model's command does, and may not act for the person.
        spec.with.retain(|(name, _)| name != process::OWNER_VARIABLE);
        Ok(cell)
    }

    fn process_spec(&self, job: &Job, command: &str) -> ProcessSpec {
        let own = job.task.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        ProcessSpec {
            command: command.to_owned(),
            shell: job.task.shell.clone(),
            directory: job.workspace.join(&job.task.cwd),
            without: self.without.clone(),
            with: own
                .chain([
                    (process::CALL_VARIABLE.to_owned(), job.process_mark()),
                    (process::OWNER_VARIABLE.to_owned(), process::PERSON.to_owned()),
                ])
                .collect(),
            time_limit: time_limit(&job.task),
            output_limit: OUTPUT_LIMIT,
            redactor: self.redactor.clone(),
            launch: LaunchMode::Person,
        }
    }
}

/// A directory of its own must be there, and inside the workspace also where links lead elsewhere.
fn check_directory(job: &Job) -> Result<(), String> {
    let stated = &job.task.cwd;
    if stated.is_empty() {
        return Ok(());
    }
    let directory = job.workspace.join(stated);
    let found = directory.canonicalize().ok().filter(|path| path.is_dir());
    let Some(found) = found else { return Err(format!("there is no directory {stated}")) };
    let workspace = job.workspace.canonicalize().unwrap_or_else(|_| job.workspace.clone());
    if found.starts_with(workspace) {
        Ok(())
    } else {
        Err(format!("the directory {stated} leads out of the workspace"))
    }
}

/// Ends a check that needs no process.
async fn report_finding(reports: CallReporter, found: bool) {
    let outcome = CallOutcome::Exited { code: i32::from(!found) };
    reports.send(CallReport::ended_without_output(outcome)).await;
}

/// The stated limit, else the larger of one hour and twice the stated duration.
fn time_limit(task: &TaskNode) -> Duration {
    match (task.timeout_seconds, task.duration_minutes) {
        (Some(seconds), _) => Duration::from_secs(seconds),
        (None, Some(minutes)) => DEFAULT_LIMIT.max(Duration::from_secs(u64::from(minutes) * 120)),
        (None, None) => DEFAULT_LIMIT,
    }
}

impl JobRunner for ShellRunner {
    fn run(
        &self,
        job: Job,
        cancel: CancellationToken,
        reports: CallReporter,
    ) -> BoxFuture<'static, ()> {
        let command = match (&job.work, &job.task.run) {
            (JobWork::CheckFile(path), _) => {
                let found = job.workspace.join(&job.task.cwd).join(path).exists();
                return Box::pin(report_finding(reports, found));
            }
            (JobWork::CheckCommand(command), _) | (JobWork::Attempt, RunKind::Shell(command)) => {
                Some(command)
            }
            (JobWork::Attempt, _) => None,
        };
        let Some(command) = command else {
            return Box::pin(async move {
                let message = format!("{} is not a shell task", job.task.id);
                reports
                    .send(CallReport::ended_without_output(CallOutcome::CouldNotStart { message }))
                    .await;
            });
        };
        if let Err(message) = check_directory(&job) {
            let ended = CallReport::ended_without_output(CallOutcome::CouldNotStart { message });
            return Box::pin(async move { reports.send(ended).await });
        }
        let mut spec = self.process_spec(&job, command);
        if !job.confined {
            return Box::pin(process::run_command(spec, cancel, reports));
        }
        let runner = self.clone();
        Box::pin(async move {
            match runner.confine_command(&job, &mut spec) {
                // The cell is there until the command is not.
                Ok(_cell) => process::run_command(spec, cancel, reports).await,
                Err(message) => {
                    reports
                        .send(CallReport::ended_without_output(CallOutcome::CouldNotStart {
                            message,
                        }))
                        .await;
                }
            }
        })
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
