//! Processes of agents of the person's own: started in a copy of the workspace, confined to it, ended with everything
//! they started.
//!
//! Standard input and output carry the agent's protocol, which is none of this module's business. What confines an
//! agent holds whether it asks or not: it writes only to its copy, its own settings and a private directory, and reaches
//! only its hosts.

mod allowed_hosts;
mod confinement;
mod network_exit;
mod program_paths;
mod proxy;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

pub use allowed_hosts::{AllowedHost, NotAHost};
pub use program_paths::find_program;
pub use proxy::ExitReport;

use confinement::AgentConfinement;
use network_exit::OpenExit;

use crate::process::{
    GroupGuard, HeldNamespace, end_group, end_leftovers, end_namespace, find_descendants,
    kill_exactly, own_namespace, spawner, start_ticks,
};
use crate::sandbox::{ARGV0, PrivateDirectory, Sandbox};
use planwright_model::{AgentNetwork, StopSignal};

/// How much of what an agent prints as errors is kept.
const MOST_ERROR_BYTES: usize = 8 * 1024;
/// How long an agent may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(1);

/// How an agent is started.
#[derive(Clone, Debug)]
pub struct AgentCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The copy of the workspace that it works in.
    pub directory: PathBuf,
    /// Names of the person's variables that it may see.
    pub environment: Vec<String>,
    /// Hosts that it may reach.
    pub hosts: Vec<AllowedHost>,
    pub readable: Vec<PathBuf>,
    pub writable: Vec<PathBuf>,
    /// What marks its processes among all others.
    pub mark: String,
}

/// Why an agent is not running.
#[derive(Debug, thiserror::Error)]
pub enum AgentStartError {
    #[error("{program} is not installed, or not on the PATH")]
    NotInstalled { program: String },
    #[error("{why}")]
    NotConfined { why: String },
    #[error("{program} does not start: {source}")]
    Failed { program: String, source: std::io::Error },
}

/// Whether an agent may run where nothing confines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnconfinedAgent {
    Refused,
    /// The person said so.
    Allowed,
}

/// A running agent. When it goes out of scope, everything it started is killed.
#[derive(Debug)]
pub struct AgentProcess {
    child: Child,
    pid: u32,
    started_ticks: u64,
    group: Option<GroupGuard>,
    mark: String,
    errors: ErrorTail,
    network: AgentNetwork,
    /// The view of the file system that it and all its descendants share, once it has one of its own.
    namespace: Option<HeldNamespace>,
    ended: bool,
    /// The way out of its network, open for as long as it runs.
    exit: Option<OpenExit>,
    /// Its temporary files, removed with it.
    _private: PrivateDirectory,
}

/// The ends of an agent's pipes.
#[derive(Debug)]
pub struct AgentPipes {
    pub output: ChildStdout,
    pub input: ChildStdin,
}

impl AgentProcess {
    /// Starts an agent. `report` is told about hosts that it tried to reach and may not.
    pub async fn start(
        sandbox: &Sandbox,
        agent: AgentCommand,
        unconfined: UnconfinedAgent,
        report: ExitReport,
    ) -> Result<(Self, AgentPipes), AgentStartError> {
        let name = agent.command.first().cloned().unwrap_or_default();
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        let program = find_program(&name, &search_path)
            .ok_or_else(|| AgentStartError::NotInstalled { program: name.clone() })?;
        let failed = |source| AgentStartError::Failed { program: name.clone(), source };
        let probing = sandbox.clone();
        let probed = tokio::task::spawn_blocking(move || {
            (probing.probe().clone(), probing.has_own_network())
        });
        let (probe, _) = probed.await.map_err(|error| failed(std::io::Error::other(error)))?;
        if !probe.enforced && unconfined == UnconfinedAgent::Refused {
            return Err(AgentStartError::NotConfined { why: probe.detail });
        }
        let cell = AgentConfinement::prepare(sandbox, &agent, &program, report).map_err(failed)?;
        let mut child = spawn_agent(&agent, &program, &cell).map_err(failed)?;
        let AgentConfinement { exit, network, private, .. } = cell;
        let missing = || failed(std::io::Error::other("it has no pipes"));
        let pid = child.id().ok_or_else(missing)?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let mut this = Self {
            child,
            pid,
            started_ticks: start_ticks(pid).unwrap_or_default(),
            group: Some(GroupGuard(pid)),
            mark: agent.mark,
            errors: ErrorTail::default(),
            network,
            namespace: None,
            ended: false,
            exit: None,
            _private: private,
        };
        let (Some(output), Some(input), Some(errors)) = pipes else { return Err(missing()) };
        this.errors.follow(errors);
        if let Some(exit) = exit {
            match exit.open().await {
                Ok(open) => this.exit = Some(open),
                Err(error) => return Err(this.failure_at_start(&name, error).await),
            }
        }
        Ok((this, AgentPipes { output, input }))
    }

    /// What it printed says more than that its sockets did not come.
    async fn failure_at_start(self, program: &str, error: std::io::Error) -> AgentStartError {
        let printed = self.error_output();
        self.end().await;
        let source = match printed.lines().last() {
            Some(line) => std::io::Error::other(line.to_owned()),
            None => error,
        };
        AgentStartError::Failed { program: program.to_owned(), source }
    }

    /// Its process, and when that started.
    pub fn process(&self) -> (u32, u64) {
        (self.pid, self.started_ticks)
    }

    /// How far its network is limited.
    pub fn network(&self) -> AgentNetwork {
        self.network
    }

    /// The end of what it printed as errors.
    pub fn error_output(&self) -> String {
        self.errors.text()
    }

    /// Takes notice of the namespace that confines it. Nothing that it starts can leave that, however it hides.
    pub fn remember_namespace(&mut self) {
        self.namespace = own_namespace(self.pid);
    }

    /// How it ended, once it has.
    pub fn exit_status(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends it: first politely, then for good, with everything it started. Its input should be closed by now.
    pub async fn end(mut self) {
        let before = self.descendants().await;
        if let Some(group) = &self.group {
            // Reaped in the meantime: an unreaped process still belongs to its group.
            let _ = tokio::join!(
                tokio::time::timeout(GRACE * 2, self.child.wait()),
                end_group(group.0, StopSignal::default(), GRACE)
            );
        }
        let after = self.descendants().await;
        drop(self.group.take());
        for (pid, started) in before.into_iter().chain(after) {
            kill_exactly(pid, started);
        }
        let (mark, namespace) = (self.mark.clone(), self.namespace.take());
        let ending = tokio::task::spawn_blocking(move || {
            end_leftovers(&mark);
            if let Some(namespace) = namespace {
                end_namespace(&namespace);
            }
        });
        self.ended = ending.await.is_ok();
    }

    async fn descendants(&self) -> Vec<(u32, u64)> {
        let pid = self.pid;
        tokio::task::spawn_blocking(move || find_descendants(pid)).await.unwrap_or_default()
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        // Nobody waited for it to end: a runtime that shuts down, or a panic.
        let started = find_descendants(self.pid);
        drop(self.group.take());
        for (pid, ticks) in started {
            kill_exactly(pid, ticks);
        }
        end_leftovers(&self.mark);
        if let Some(namespace) = &self.namespace {
            end_namespace(namespace);
        }
    }
}

fn spawn_agent(
    agent: &AgentCommand,
    program: &std::path::Path,
    cell: &AgentConfinement,
) -> std::io::Result<Child> {
    let mut command;
    if let Some(launcher) = &cell.launcher {
        // The helper creates its own session, and with it its own group.
        command = Command::new(&launcher.helper);
        command.arg0(ARGV0).arg(&launcher.profile).arg(program);
    } else {
        command = Command::new(program);
        command.process_group(0);
    }
    command
        .args(agent.command.iter().skip(1))
        .current_dir(&agent.directory)
        .env_clear()
        .envs(&cell.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    spawner::spawn_on_thread(command)
}

/// The end of what an agent prints as errors. It is read for as long as it lasts, so that nothing blocks.
#[derive(Clone, Debug, Default)]
struct ErrorTail(Arc<Mutex<VecDeque<u8>>>);

impl ErrorTail {
    fn follow(&self, mut errors: ChildStderr) {
        let tail = self.clone();
        // Ends with the pipe, which ends with the last process that has it.
        tokio::spawn(async move {
            let mut piece = [0_u8; 4096];
            while let Ok(length @ 1..) = errors.read(&mut piece).await {
                let mut kept = tail.0.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&piece[..length]);
                let extra = kept.len().saturating_sub(MOST_ERROR_BYTES);
                kept.drain(..extra);
            }
        });
    }

    fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        planwright_text::clean_text(&String::from_utf8_lossy(&bytes)).trim().to_owned()
    }
}
