//! Marks of long-lived child processes, such as MCP servers: they belong to one Planwright process and end with it.
//!
//! The mark identifies its owner by process id, start time and PID namespace. A later Planwright process can therefore
//! distinguish a server whose owner has ended from one that is still in use, without any record on disk.

use std::fmt;
#[cfg(any(feature = "mcp", test))]
use std::sync::atomic::{AtomicU64, Ordering};

use super::group::{end_marked, start_ticks};

/// The value of [`super::CALL_VARIABLE`] in a server and in everything the server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedMark {
    owner: OwnerProcess,
    number: u64,
    name: String,
}

/// Uniquely identifies a process: ids are reused, start times of the same id are not.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OwnerProcess {
    /// Ids mean nothing outside their namespace: a process in a container must not look dead to its host.
    namespace: String,
    pid: u32,
    started: u64,
}

const PREFIX: &str = "mcp/";

impl OwnedMark {
    /// A mark of this process that no other child has.
    #[cfg(any(feature = "mcp", test))]
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { owner: OwnerProcess::current(), number, name: name.to_owned() }
    }

    fn parse_owner(mark: &[u8]) -> Option<OwnerProcess> {
        let mut parts = std::str::from_utf8(mark).ok()?.strip_prefix(PREFIX)?.splitn(4, '/');
        let namespace = parts.next().filter(|part| !part.is_empty())?.to_owned();
        let (pid, started) = parts.next()?.split_once('.')?;
        parts.next()?.parse::<u64>().ok()?;
        parts.next()?;
        Some(OwnerProcess { namespace, pid: pid.parse().ok()?, started: started.parse().ok()? })
    }
}

impl fmt::Display for OwnedMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OwnerProcess { namespace, pid, started } = &self.owner;
        write!(f, "{PREFIX}{namespace}/{pid}.{started}/{}/{}", self.number, self.name)
    }
}

impl OwnerProcess {
    #[cfg(any(feature = "mcp", test))]
    fn current() -> Self {
        let pid = std::process::id();
        Self { namespace: pid_namespace(), pid, started: start_ticks(pid).unwrap_or_default() }
    }

    /// Whether it ended. Only a process of our own namespace can be checked.
    fn is_gone(&self, own_namespace: &str) -> bool {
        self.namespace == own_namespace
            && own_namespace != UNKNOWN
            && (start_ticks(self.pid) != Some(self.started) || is_zombie(self.pid))
    }
}

const UNKNOWN: &str = "unknown";

/// The inode of the PID namespace, in digits.
fn pid_namespace() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    if digits.is_empty() { UNKNOWN.to_owned() } else { digits }
}

/// A killed process that its parent has not reaped yet still has its start time.
fn is_zombie(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
    })
}

/// Kills servers, and what they started, whose Planwright process has ended. Returns their ids.
pub fn end_orphaned_servers() -> Vec<u32> {
    let own = pid_namespace();
    end_marked(&|mark| OwnedMark::parse_owner(mark).is_some_and(|owner| owner.is_gone(&own)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_its_owner() {
        let (one, two) = (OwnedMark::new("files"), OwnedMark::new("a/b"));
        assert_ne!(one.to_string(), two.to_string());
        for mark in [one, two] {
            let read = OwnedMark::parse_owner(mark.to_string().as_bytes()).unwrap();
            assert_eq!(read, OwnerProcess::current());
            assert!(!read.is_gone(&pid_namespace()));
        }
        for foreign in
            ["mcp/small", "mcp//1.2/3/x", "mcp/1/2/3/x", "session/task/1/1", "mcp/1/2.x/3/y"]
        {
            assert_eq!(OwnedMark::parse_owner(foreign.as_bytes()), None, "{foreign}");
        }
    }

    #[test]
    fn only_an_owner_of_this_namespace_can_be_gone() {
        let current = OwnerProcess::current();
        let reused = OwnerProcess { started: current.started + 1, ..current.clone() };
        assert!(reused.is_gone(&current.namespace));
        let elsewhere = OwnerProcess { namespace: "1".to_owned(), ..reused };
        assert!(!elsewhere.is_gone(&current.namespace));
    }
}
