//! Everything that a process started, however it left its group: found by parents and sessions.
//!
//! A mark in the environment finds processes even after their parents are gone. A program that clears the environment of
//! what it starts leaves no mark; as long as it runs, its descendants can be found this way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::group::{kill_exactly, start_ticks};

/// The descendants of a process and the members of its session, with their start times. The process itself is not
/// among them. Empty where the system does not list processes.
pub(crate) fn find_descendants(root: u32) -> Vec<(u32, u64)> {
    let processes = list_processes();
    let mut found = BTreeSet::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        let belongs = processes.iter().filter(|(pid, place)| {
            **pid != root && (place.parent == parent || place.session == root)
        });
        for (pid, _) in belongs {
            if found.insert(*pid) {
                next.push(*pid);
            }
        }
    }
    found.into_iter().filter_map(|pid| Some((pid, start_ticks(pid)?))).collect()
}

/// The mount namespace of a process, kept open: the kernel gives the number of one that is gone to the next, and what
/// is in that is a stranger's.
#[derive(Debug)]
pub(crate) struct HeldNamespace {
    name: PathBuf,
    _held: File,
}

/// The mount namespace of a process, if it is not ours. A confined process cannot leave it, nor can what it starts.
pub(crate) fn own_namespace(pid: u32) -> Option<HeldNamespace> {
    let held = File::open(format!("/proc/{pid}/ns/mnt")).ok()?;
    let name = std::fs::read_link(format!("/proc/self/fd/{}", held.as_raw_fd())).ok()?;
    let ours = std::fs::read_link("/proc/self/ns/mnt").ok()?;
    (name != ours).then_some(HeldNamespace { name, _held: held })
}

/// How long killed processes may take to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Kills everything in a mount namespace that is not ours.
pub(crate) fn end_namespace(namespace: &HeldNamespace) {
    let until = Instant::now() + KILL_TIMEOUT;
    loop {
        let inside = list_processes().into_keys().filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/ns/mnt")).is_ok_and(|own| own == namespace.name)
        });
        let inside: Vec<u32> = inside.collect();
        if inside.is_empty() || Instant::now() >= until {
            return;
        }
        for pid in inside {
            if let Some(started) = start_ticks(pid) {
                kill_exactly(pid, started);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Where a process stands among others.
#[derive(Clone, Copy)]
struct ProcessPlace {
    parent: u32,
    session: u32,
}

fn list_processes() -> BTreeMap<u32, ProcessPlace> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, read_place(pid)?))).collect()
}

/// `None` for a process that has ended meanwhile.
fn read_place(pid: u32) -> Option<ProcessPlace> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(ProcessPlace { parent, session })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_without_a_mark() {
        let mut shell = std::process::Command::new("/bin/sh")
            .args(["-c", "env -i sleep 300 & sleep 300"])
            .spawn()
            .unwrap();
        let found = loop {
            let found = find_descendants(shell.id());
            if found.len() == 2 {
                break found;
            }
            std::thread::yield_now();
        };
        for (pid, started) in found {
            kill_exactly(pid, started);
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
