//! Process groups: ends one, and finds one that outlived a crash.

use std::time::Duration;

use rustix::process::{
    Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group,
};

use planwright_model::StopSignal;

fn group_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

/// Sends a signal to a group and, after the grace period, SIGKILL.
pub(crate) async fn end_group(pid: u32, stop: StopSignal, grace: Duration) {
    let Some(group) = group_pid(pid) else { return };
    let signal = match stop {
        StopSignal::Terminate => Signal::TERM,
        StopSignal::Interrupt => Signal::INT,
        StopSignal::Quit => Signal::QUIT,
        StopSignal::HangUp => Signal::HUP,
        StopSignal::Kill => Signal::KILL,
    };
    signal_group(group, signal);
    let deadline = tokio::time::Instant::now() + grace;
    while tokio::time::Instant::now() < deadline {
        if test_kill_process_group(group).is_err() && test_kill_process(group).is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    signal_group(group, Signal::KILL);
}

/// Signals a group, and its first process apart: right after its start it may not have made its group yet. Processes that
/// are gone already are what is wanted.
fn signal_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
    let _ = rustix::process::kill_process(group, signal);
}

/// Kills a group immediately.
pub(super) fn kill_group(pid: u32) {
    if let Some(group) = group_pid(pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills one process, if it is still the one that started then.
pub(crate) fn kill_exactly(pid: u32, started: u64) {
    if let Some(process) = group_pid(pid).filter(|_| start_ticks(pid) == Some(started)) {
        // It may have ended meanwhile, which is what is wanted.
        let _ = rustix::process::kill_process(process, Signal::KILL);
    }
}

/// When a process started, in the kernel's ticks since boot. Together with the id it names a process for good. `None` for
/// one that is gone, which here and below is no error.
pub fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses and may contain anything; the twenty-second is the start time.
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

/// The variable that marks every process of a call, even after its group or parent changed.
pub const CALL_VARIABLE: &str = "PLANWRIGHT_CALL_ID";

/// The variable that distinguishes commands of the user's own plan from those of a model, which do not have it.
pub const OWNER_VARIABLE: &str = "PLANWRIGHT_CALL_BY";
/// Its value for a task of the user's plan.
pub const PERSON: &str = "person";

/// Who a process was started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOwner {
    /// A `shell` task of the user's own plan.
    Person,
    Model,
}

/// For whom Planwright started this process or one of its ancestors. A process that removes the mark from its own
/// environment, or claims to be the user's, still has a parent with the true value.
pub fn enclosing_call() -> Option<CallOwner> {
    let mut found = std::env::var_os(CALL_VARIABLE)
        .map(|_| call_owner(std::env::var_os(OWNER_VARIABLE).is_some_and(|by| by == PERSON)));
    let mut pid = std::process::id();
    // No chain of parents is nearly this long; a system that reports a cycle must not block us.
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

/// The processes of a call that are at work, without touching them.
pub fn find_leftovers(mark: &str) -> Vec<u32> {
    find_marked(&|found| found == mark.as_bytes()).marked
}

/// How long a killed process may take to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Kills every process of a call that outlived the run that started it, and waits until they are gone. Returns their
/// ids.
///
/// They are found by the mark in their environment: the first process of a call may have ended while its children
/// continue, and the run may have been killed before it could record any id.
pub fn end_leftovers(mark: &str) -> Vec<u32> {
    end_marked(&|found| found == mark.as_bytes())
}

/// The same for all marks with this prefix.
pub fn end_leftovers_with_prefix(start: &str) -> Vec<u32> {
    end_marked(&|found| found.starts_with(start.as_bytes()))
}

/// The same for all marks accepted by a predicate.
pub(super) fn end_marked(is_ours: &dyn Fn(&[u8]) -> bool) -> Vec<u32> {
    let mut found = Vec::new();
    let deadline = std::time::Instant::now() + KILL_TIMEOUT;
    loop {
        let seen = find_marked(is_ours);
        for pid in &seen.marked {
            if let Some(pid) = group_pid(*pid) {
                // It may have ended meanwhile; the next round looks again.
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

/// The result of one scan of all processes. Empty where the system does not support it.
struct MarkedProcesses {
    /// Those whose environment contains the mark, except this one.
    marked: Vec<u32>,
    /// A process is just executing another program: at that moment it shows no environment, and may have the mark.
    unsettled: bool,
}

fn find_marked(is_ours: &dyn Fn(&[u8]) -> bool) -> MarkedProcesses {
    let name = format!("{CALL_VARIABLE}=");
    let me = std::process::id();
    let mut seen = MarkedProcesses { marked: Vec::new(), unsettled: false };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids.filter(|pid| *pid != me) {
        // It has ended, or belongs to somebody else.
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
/// kernel thread nor dead.
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

/// Kills a group when it is dropped, so that nothing keeps running when its waiter is gone.
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
    fn a_process_is_identified_by_its_start_time() {
        assert!(start_ticks(std::process::id()).unwrap() > 0);
    }

    #[test]
    fn processes_of_a_call_are_found_even_if_their_parent_is_gone() {
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
    fn system_groups_are_never_signaled() {
        assert!(group_pid(0).is_none() && group_pid(1).is_none() && group_pid(u32::MAX).is_none());
    }
}
