//! Confines commands written by a model.
//!
//! A command is started through this same program under another name ([`ARGV0`]), which gives up rights and then
//! becomes the command: its own session, no descriptors except the first three, resource limits, mounts that are
//! read-only except for what it may write (if the system supports namespaces), no new privileges, no capabilities,
//! Landlock for files and signals, seccomp for what Landlock does not cover. Whether all of this works is tested once;
//! if it does not, commands are treated as unconfined and always ask.

mod agent_rights;
mod command_confinement;
#[cfg(target_os = "linux")]
mod confine;
mod download_caches;
pub mod environment;
mod helper;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod own_network;
mod private_directory;
mod process_rights;
#[cfg(target_os = "linux")]
mod seccomp_filter;
mod toolchain_paths;

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use agent_rights::{AgentNetworkRights, AgentRights};
pub use command_confinement::{CommandConfinement, RootAccess};
pub use helper::{is_helper, main as helper_main};
pub use private_directory::PrivateDirectory;
pub use process_rights::seal_descriptors;
pub use toolchain_paths::ToolchainPaths;

use super::permission::SandboxState;

/// The name under which this program confines itself and becomes a command.
pub const ARGV0: &str = "planwright-sandbox";

/// The exit status of a helper that failed to confine itself; the command was not started.
pub const HELPER_FAILED: i32 = 125;

/// How long a helper may take to test what works.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// The longest answer accepted from a helper.
const MOST_ANSWER_BYTES: u64 = 64 * 1024;

/// What a command may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxProfile {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub network: bool,
    /// Everything except `write` is mounted read-only for the command; set where that works.
    #[serde(default)]
    pub own_mounts: bool,
    /// Set for an agent of the person's own, which may do what a single command may not.
    #[serde(default)]
    pub agent: Option<AgentRights>,
    pub limits: SandboxLimits,
}

/// Resource limits of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimits {
    /// Processes of this user in addition to the existing ones.
    pub more_processes: u64,
    pub file_bytes: u64,
    /// Address space of one process, where it is limited. Some runtimes reserve much more than they use.
    pub memory_bytes: Option<u64>,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self { more_processes: 512, file_bytes: 4 << 30, memory_bytes: Some(64 << 30) }
    }
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxProbe {
    pub enforced: bool,
    /// Whether commands get their own mounts, so that nothing about files outside can be changed.
    #[serde(default)]
    pub own_mounts: bool,
    pub detail: String,
}

impl SandboxProbe {
    fn failed(detail: impl Into<String>) -> Self {
        Self { enforced: false, own_mounts: false, detail: detail.into() }
    }
}

/// Confines commands, if the system supports it.
#[derive(Clone, Debug)]
pub struct Sandbox {
    helper: Option<PathBuf>,
    probe: Arc<OnceLock<SandboxProbe>>,
    /// Whether a process can have a network of its own; tested when an agent needs one.
    own_network: Arc<OnceLock<bool>>,
}

impl Sandbox {
    /// Uses a program that calls [`helper_main`] when it is started as [`ARGV0`].
    pub fn with_helper(helper: impl Into<PathBuf>) -> Self {
        Self { helper: Some(helper.into()), probe: Arc::default(), own_network: Arc::default() }
    }

    /// Uses the running program.
    pub fn with_current_program() -> Self {
        match std::env::current_exe() {
            Ok(path) => Self::with_helper(path),
            Err(error) => {
                tracing::warn!(%error, "the path of this program is unknown");
                Self::unavailable("this program cannot find itself to start the confined command")
            }
        }
    }

    /// No confinement, for the given reason.
    pub fn unavailable(reason: &str) -> Self {
        let probe = OnceLock::from(SandboxProbe::failed(reason));
        Self { helper: None, probe: Arc::new(probe), own_network: Arc::new(OnceLock::from(false)) }
    }

    /// What works on this system; tested once.
    pub fn probe(&self) -> &SandboxProbe {
        self.probe.get_or_init(|| match &self.helper {
            Some(helper) => probe_helper(helper),
            None => SandboxProbe::failed("there is no helper"),
        })
    }

    /// Whether an agent can have a network of its own here, whose only exit is ours.
    pub fn has_own_network(&self) -> bool {
        let probe = self.probe();
        let tested = || {
            let helper = self.helper.as_ref().filter(|_| probe.enforced && probe.own_mounts);
            helper.is_some_and(|helper| run_helper_probe(helper, helper::PROBE_NETWORK).enforced)
        };
        *self.own_network.get_or_init(tested)
    }

    pub fn state(&self) -> SandboxState {
        let probe = self.probe();
        if probe.enforced {
            SandboxState::Enforced
        } else {
            SandboxState::NotEnforced { why: probe.detail.clone() }
        }
    }

    /// The program that confines a command, with its profile; `None` if this system can confine nothing. A profile that
    /// cannot be passed to the helper is an error: the command must not run without it.
    pub fn launcher_for(&self, profile: &SandboxProfile) -> io::Result<Option<SandboxLauncher>> {
        let probe = self.probe();
        let Some(helper) = self.helper.clone().filter(|_| probe.enforced) else { return Ok(None) };
        let profile = SandboxProfile { own_mounts: probe.own_mounts, ..profile.clone() };
        // A path that is not UTF-8 cannot be written into the profile.
        let profile = serde_json::to_string(&profile).map_err(io::Error::other)?;
        Ok(Some(SandboxLauncher { helper, profile }))
    }
}

/// How a confined command is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxLauncher {
    pub helper: PathBuf,
    pub profile: String,
}

/// Tests everything, and if that fails, what works without mounts of its own.
fn probe_helper(helper: &Path) -> SandboxProbe {
    let full = run_helper_probe(helper, helper::PROBE);
    if full.enforced { full } else { run_helper_probe(helper, helper::PROBE_WITHOUT_MOUNTS) }
}

fn run_helper_probe(helper: &Path, question: &str) -> SandboxProbe {
    // A directory to write in, so that making it writable is tested as well.
    let private = match PrivateDirectory::create() {
        Ok(private) => private,
        Err(error) => return SandboxProbe::failed(format!("making a private directory: {error}")),
    };
    let child = Command::new(helper)
        .arg0(ARGV0)
        .arg(question)
        .arg(private.path())
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    match child {
        Ok(child) => read_probe(child, PROBE_TIME),
        Err(error) => SandboxProbe::failed(format!(
            "the helper that confines commands does not start: {error}"
        )),
    }
}

/// The helper's answer within a time limit. The helper is killed in any case.
fn read_probe(mut child: Child, time_limit: Duration) -> SandboxProbe {
    let (sender, receiver) = std::sync::mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut answer = Vec::new();
            let read = output.take(MOST_ANSWER_BYTES).read_to_end(&mut answer);
            // After the timeout, nobody is receiving anymore.
            let _ = sender.send(read.map(|_| answer));
        });
    }
    let answer = receiver.recv_timeout(time_limit);
    // It has usually ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    match answer {
        Ok(Ok(answer)) => serde_json::from_slice(&answer).unwrap_or_else(|_| {
            SandboxProbe::failed("the helper that confines commands does not answer")
        }),
        Ok(Err(error)) => SandboxProbe::failed(format!(
            "the helper that confines commands cannot be read: {error}"
        )),
        Err(_) => SandboxProbe::failed(format!(
            "the helper that confines commands did not answer within {} s",
            time_limit.as_secs()
        )),
    }
}

/// Keeps other programs of this user from reading our memory and environment. Skipped inside a command started by
/// Planwright itself: such processes must be found by their environment if they outlive it, and they have no keys.
pub fn protect_self() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(crate::process::CALL_VARIABLE).is_none() {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // If this fails, everything else still works.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(program: &str, argument: &str) -> Child {
        Command::new(program).arg(argument).stdout(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_helper_that_does_not_answer_is_treated_as_missing() {
        let silent = read_probe(start("sleep", "3600"), Duration::from_millis(20));
        assert!(!silent.enforced && silent.detail.contains("did not answer within"), "{silent:?}");
        let endless = read_probe(start("yes", "x"), Duration::from_secs(600));
        assert!(!endless.enforced && endless.detail.contains("does not answer"), "{endless:?}");
        let answer = r#"{"enforced":true,"own_mounts":true,"detail":"all"}"#;
        assert!(read_probe(start("echo", answer), Duration::from_secs(600)).enforced);
    }

    #[test]
    fn a_command_whose_profile_cannot_be_written_is_not_started() {
        use std::os::unix::ffi::OsStrExt as _;
        let probe = SandboxProbe { enforced: true, own_mounts: true, detail: String::new() };
        let sandbox =
            Sandbox { probe: Arc::new(OnceLock::from(probe)), ..Sandbox::with_helper("/bin/true") };
        let root = PathBuf::from(std::ffi::OsStr::from_bytes(b"/tmp/\xff"));
        let profile = SandboxProfile { write: vec![root], ..SandboxProfile::default() };
        assert!(sandbox.launcher_for(&profile).is_err());
        assert!(sandbox.launcher_for(&SandboxProfile::default()).unwrap().is_some());
        let none = Sandbox::unavailable("no kernel support");
        assert!(none.launcher_for(&profile).unwrap().is_none());
    }
}
