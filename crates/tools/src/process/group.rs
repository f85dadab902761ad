//! Process groups: ending one, and finding one that outlived a crash.

use std::time::Duration;

use rustix::process::{
    Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group,
};

fn group_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

/// Asks a group to end and, after the grace period, ends it.
pub(crate) async fn end_group(pid: u32, grace: Duration) {
    let Some(group) = group_pid(pid) else { return };
    signal_group(group, Signal::TERM);
    let deadline = tokio::time::Instant::now() + grace;
    while tokio::time::Instant::now() < deadline {
        if test_kill_process_group(group).is_err() && test_kill_process(group).is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    signal_group(group, Signal::KILL);
}

/// Signals a group, and its first process apart: right after its start it may not have made its group yet.
fn signal_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
    let _ = rustix::process::kill_process(group, signal);
}

/// Ends a group at once.
pub(super) fn kill_group(pid: u32) {
    if let Some(group) = group_pid(pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// When a process started, in the kernel's ticks since boot. Together with the id it names a process for good.
pub fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in brackets and may hold anything; the twenty-second is the start time.
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

/// The variable that marks every process of a call, whichever group or parent it has by now.
pub const CALL_VARIABLE: &str = "PLANWRIGHT_CALL_ID";

/// The variable that tells commands of the person's own plan from those of a model, which do not have it.
pub const OWNER_VARIABLE: &str = "PLANWRIGHT_CALL_BY";
/// Its value for a task of the person's plan.
pub const PERSON: &str = "person";

/// Whose command a process is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOwner {
    /// A `shell` task of the person's own plan.
    Person,
    Model,
}

/// Whose command this process, or any it descends from, was started for by Planwright. A process that takes the mark
/// off its own environment, or calls itself the person's, still has a parent that carries what is true.
pub fn enclosing_call() -> Option<CallOwner> {
    let mut found = std::env::var_os(CALL_VARIABLE)
        .map(|_| call_owner(std::env::var_os(OWNER_VARIABLE).is_some_and(|by| by == PERSON)));
    let mut pid = std::process::id();
    // No chain of parents is nearly as long; a system that lies about one must not keep us here.
    for _ in 0..128 {
        match marked_owner(pid) {
            Some(CallOwner::Model) => return Some(CallOwner::Model),
            Some(CallOwner::Person) => found = found.or(Some(CallOwner::Person)),
            None => {}
        }
        match parent_pid(pid) {
            Some(next) if next > 1 && next != pid => pid = next,
            _ => break,
        }
    }
    found
}

fn call_owner(is_persons: bool) -> CallOwner {
    if is_persons { CallOwner::Person } else { CallOwner::Model }
}

fn marked_owner(pid: u32) -> Option<CallOwner> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let has = |start: &str| {
        bytes.split(|byte| *byte == 0).any(|entry| entry.starts_with(start.as_bytes()))
    };
    has(&format!("{CALL_VARIABLE}="))
        .then(|| call_owner(has(&format!("{OWNER_VARIABLE}={PERSON}"))))
}

fn parent_pid(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// How long a process may take to be gone after it was killed.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Ends every process of a call that outlived the run that started it, and waits until they are gone. Returns their ids.
///
/// They are found by the mark in their environment: the first process of a call may be gone while its children go on,
/// and the run may have been killed before it could write down any id.
pub fn end_leftovers(mark: &str) -> Vec<u32> {
    end_marked(&|found| found == mark.as_bytes())
}

/// The same for all marks that begin like this.
pub fn end_leftovers_with_prefix(start: &str) -> Vec<u32> {
    end_marked(&|found| found.starts_with(start.as_bytes()))
}

/// The same for all marks that a test accepts.
pub(super) fn end_marked(is_ours: &dyn Fn(&[u8]) -> bool) -> Vec<u32> {
    let mut found = Vec::new();
    let deadline = std::time::Instant::now() + KILL_TIMEOUT;
    loop {
        let seen = find_marked(is_ours);
        for pid in &seen.marked {
            if let Some(pid) = group_pid(*pid) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        let is_done = seen.marked.is_empty() && !seen.unsettled;
        found.extend(seen.marked);
        if is_done || std::time::Instant::now() >= deadline {
            found.sort_unstable();
            found.dedup();
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What one look at all processes shows. Empty where the system does not tell.
struct MarkedProcesses {
    /// Those whose environment carries the mark, other than this one.
    marked: Vec<u32>,
    /// One is just becoming another program: for that moment it shows no environment, and may carry the mark.
    unsettled: bool,
}

fn find_marked(is_ours: &dyn Fn(&[u8]) -> bool) -> MarkedProcesses {
    let name = format!("{CALL_VARIABLE}=");
    let me = std::process::id();
    let mut seen = MarkedProcesses { marked: Vec::new(), unsettled: false };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids.filter(|pid| *pid != me) {
        let Ok(bytes) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        let mut entries = bytes.split(|byte| *byte == 0);
        if entries.any(|entry| entry.strip_prefix(name.as_bytes()).is_some_and(is_ours)) {
            seen.marked.push(pid);
        } else if bytes.is_empty() && is_starting(pid) {
            seen.unsettled = true;
        }
    }
    seen
}

/// Whether a process without an environment is between two programs: it has no arguments either, and is neither a
/// thread of the kernel nor dead.
fn is_starting(pid: u32) -> bool {
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline"));
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_whitespace();
    let is_dead = fields.next().is_none_or(|state| matches!(state, "Z" | "X"));
    let flags: u64 = fields.nth(5).and_then(|flags| flags.parse().ok()).unwrap_or(KERNEL_THREAD);
    arguments.is_ok_and(|bytes| bytes.is_empty()) && !is_dead && flags & KERNEL_THREAD == 0
}

/// Ends a group when it is dropped, so that nothing goes on when the one who waits for it is gone.
#[derive(Debug)]
pub(crate) struct GroupGuard(pub(crate) u32);

impl Drop for GroupGuard {
    fn drop(&mut self) {
        kill_group(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start() {
        assert!(start_ticks(std::process::id()).unwrap() > 0);
    }

    #[test]
    fn processes_of_a_call_are_found_whatever_became_of_their_parent() {
        let mark = format!("test/{}/1/1", std::process::id());
        let mut shell = std::process::Command::new("/bin/sh")
            .args(["-c", "sleep 300 & exec true"])
            .env(CALL_VARIABLE, &mark)
            .spawn()
            .unwrap();
        shell.wait().unwrap();
        assert_eq!(end_leftovers(&mark).len(), 1);
        assert!(end_leftovers(&mark).is_empty());
        let mut nested = std::process::Command::new("/bin/sleep")
            .arg("300")
            .env(CALL_VARIABLE, format!("test/{}/a.3.1/1/1", std::process::id()))
            .spawn()
            .unwrap();
        let within = format!("test/{}/a.", std::process::id());
        assert_eq!(end_leftovers_with_prefix(&within), [nested.id()]);
        nested.wait().unwrap();
    }

    #[test]
    fn groups_of_the_system_are_never_meant() {
        assert!(group_pid(0).is_none() && group_pid(1).is_none() && group_pid(u32::MAX).is_none());
    }
}
