//! Which processes of this machine are agents that use the desk. What runs below one of them is not the person.
//!
//! An agent with a shell could run `planwright answer` itself. The desk knows the process that started it, so that such
//! a command is recognized by its ancestors. It is one obstacle, not a wall: a program that runs as the person can do
//! what the person can.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use planwright_tools::process::start_ticks;

/// The longest chain of parents that is followed.
const MAX_DEPTH: usize = 64;

/// Variables that coding agents set in the commands they run.
const AGENT_VARIABLES: [&str; 5] =
    ["CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE"];

/// The variable that says that an agent runs this process, if there is one.
pub fn agent_variable() -> Option<&'static str> {
    AGENT_VARIABLES
        .into_iter()
        .find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// The agents that use the desk, kept as empty files in the data directory.
#[derive(Clone, Debug)]
pub struct AgentProcesses {
    directory: PathBuf,
}

impl AgentProcesses {
    pub fn in_data_dir(data_dir: &Path) -> Self {
        Self { directory: data_dir.join("desk-agents") }
    }

    /// Keeps the processes that started this one, up to the person's shell, and forgets those that have ended.
    pub fn record_parents(&self) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        self.remove_ended()?;
        for (pid, ticks) in starting_processes(std::process::id()) {
            fs::write(self.directory.join(file_name(pid, ticks)), b"")?;
        }
        Ok(())
    }

    /// Whether this process runs below an agent that uses the desk.
    pub fn is_below_agent(&self) -> bool {
        let mut pid = std::process::id();
        for _ in 0..MAX_DEPTH {
            let Some(parent) = parent_pid(pid).filter(|parent| *parent > 1 && *parent != pid)
            else {
                return false;
            };
            let known = start_ticks(parent)
                .is_some_and(|ticks| self.directory.join(file_name(parent, ticks)).exists());
            if known {
                return true;
            }
            pid = parent;
        }
        false
    }

    fn remove_ended(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let alive = parse_file_name(&name.to_string_lossy())
                .is_some_and(|(pid, ticks)| start_ticks(pid) == Some(ticks));
            if !alive {
                // Another desk may remove it at the same moment.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}

fn file_name(pid: u32, ticks: u64) -> String {
    format!("{pid}-{ticks}")
}

fn parse_file_name(name: &str) -> Option<(u32, u64)> {
    let (pid, ticks) = name.split_once('-')?;
    Some((pid.parse().ok()?, ticks.parse().ok()?))
}

/// The parent of a process and its ancestors, without the shell that the person works in: that leads its session.
fn starting_processes(of: u32) -> Vec<(u32, u64)> {
    let mut found = Vec::new();
    let mut pid = of;
    for _ in 0..MAX_DEPTH {
        let Some(parent) = parent_pid(pid).filter(|parent| *parent > 1 && *parent != pid) else {
            break;
        };
        // The direct parent is the agent or its shell, whatever session it leads.
        if !found.is_empty() && session_leader(parent) == Some(parent) {
            break;
        }
        let Some(ticks) = start_ticks(parent) else { break };
        found.push((parent, ticks));
        if session_leader(parent) == Some(parent) {
            break;
        }
        pid = parent;
    }
    found
}

/// A field of a process, counted after its name.
fn stat_field(pid: u32, field: usize) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(field)?.parse().ok()
}

fn parent_pid(pid: u32) -> Option<u32> {
    stat_field(pid, 1)
}

fn session_leader(pid: u32) -> Option<u32> {
    stat_field(pid, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_below_a_recorded_one_are_recognized() {
        let dir = tempfile::tempdir().unwrap();
        let agents = AgentProcesses::in_data_dir(dir.path());
        assert!(!agents.is_below_agent());
        agents.record_parents().unwrap();
        // The test runs below its own parent, which is recorded now.
        assert!(agents.is_below_agent());
        let stale = dir.path().join("desk-agents").join(file_name(1, 1));
        fs::write(&stale, b"").unwrap();
        fs::write(dir.path().join("desk-agents/odd"), b"").unwrap();
        agents.record_parents().unwrap();
        assert!(!stale.exists());
        assert!(!dir.path().join("desk-agents/odd").exists());
    }
}
