//! The helper side of the sandbox: this program started under another name, about to become a command.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::{ARGV0, HELPER_FAILED, SandboxProbe, SandboxProfile};

/// Makes the helper confine itself and report the result.
pub(super) const PROBE: &str = "--probe";
/// The same without its own mounts, which not every system supports.
pub(super) const PROBE_WITHOUT_MOUNTS: &str = "--probe-without-mounts";

/// Whether a process can have a network of its own.
pub(super) const PROBE_NETWORK: &str = "--probe-network";

/// Whether this process was started to confine a command.
pub fn is_helper() -> bool {
    std::env::args_os().next().is_some_and(|name| name == ARGV0)
}

/// Confines this process and becomes the command. Returns only if that fails.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "its caller reads both")]
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == PROBE || first == PROBE_WITHOUT_MOUNTS {
        // With a writable directory, bind mounts are tested too.
        let write = arguments.map(PathBuf::from).collect();
        let profile =
            SandboxProfile { own_mounts: first == PROBE, write, ..SandboxProfile::default() };
        let probe = confine(&profile).unwrap_or_else(SandboxProbe::failed);
        println!("{}", serde_json::to_string(&probe).unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    if first == PROBE_NETWORK {
        let probe = probe_network().unwrap_or_else(SandboxProbe::failed);
        println!("{}", serde_json::to_string(&probe).unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let error = exec_command(&first, &arguments.collect::<Vec<_>>());
    eprintln!("planwright: the command was not started: {error}");
    ExitCode::from(u8::try_from(HELPER_FAILED).unwrap_or(1))
}

fn exec_command(profile: &OsString, command: &[OsString]) -> String {
    let profile: SandboxProfile = match profile.to_str().map(serde_json::from_str) {
        Some(Ok(profile)) => profile,
        _ => return "its profile cannot be read".to_owned(),
    };
    let Some((program, rest)) = command.split_first() else {
        return "there is no command".to_owned();
    };
    match confine(&profile) {
        Ok(probe) if probe.enforced => Command::new(program).args(rest).exec().to_string(),
        Ok(probe) => probe.detail,
        Err(error) => error,
    }
}

#[cfg(target_os = "linux")]
fn probe_network() -> Result<SandboxProbe, String> {
    super::namespace::enter_own_namespaces(super::namespace::NETWORK)?;
    super::own_network::raise_loopback()?;
    Ok(SandboxProbe { enforced: true, own_mounts: true, detail: String::new() })
}

#[cfg(not(target_os = "linux"))]
fn probe_network() -> Result<SandboxProbe, String> {
    Err("this system has no namespaces".to_owned())
}

#[cfg(target_os = "linux")]
fn confine(profile: &SandboxProfile) -> Result<SandboxProbe, String> {
    super::confine::confine_process(profile)
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &SandboxProfile) -> Result<SandboxProbe, String> {
    Err("this system has no Landlock".to_owned())
}
