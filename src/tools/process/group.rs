//! Process groups: ending one, and finding one that outlived a crash.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

fn group_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

/// Asks a group to end and, after the grace period, ends it.
pub(super) async fn end(pid: u32, grace: Duration) {
    let Some(group) = group_of(pid) else { return };
    let _ = kill_process_group(group, Signal::TERM);
    let deadline = tokio::time::Instant::now() + grace;
    while tokio::time::Instant::now() < deadline {
        if test_kill_process_group(group).is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let _ = kill_process_group(group, Signal::KILL);
}

/// Ends a group at once.
pub(super) fn kill(pid: u32) {
    if let Some(group) = group_of(pid) {
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

/// Ends the group of a process that outlived the run that started it. Returns whether there was one.
pub fn end_leftover(pid: u32, started_ticks: u64) -> bool {
    if started_ticks == 0 || start_ticks(pid) != Some(started_ticks) {
        return false;
    }
    kill(pid);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start() {
        let me = std::process::id();
        let ticks = start_ticks(me).unwrap();
        assert!(ticks > 0);
        assert!(!end_leftover(me, ticks + 1), "another process with the same id is left alone");
    }

    #[test]
    fn groups_of_the_system_are_never_meant() {
        assert!(group_of(0).is_none() && group_of(1).is_none() && group_of(u32::MAX).is_none());
    }
}
