//! A view of the file system in which only what the command may write can be changed at all.
//!
//! Landlock does not cover modes, owners, times and extended attributes: a command could change those of any file that
//! belongs to the user. A read-only mount refuses that too. It needs a mount namespace, and therefore either root or a
//! kernel that allows unprivileged user namespaces.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::sched::CloneFlags;
use rustix::fs::{Mode, OFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount,
};

use super::{AgentRights, SandboxProfile};

/// A network of its own, beside mounts.
pub(super) const NETWORK: CloneFlags = CloneFlags::CLONE_NEWNET;

/// Makes everything read-only for this process except what it may write. Shared memory and queues become private as
/// well, and where an agent has a network of its own, so does that.
pub(super) fn enter_namespace(profile: &SandboxProfile) -> Result<(), String> {
    let directory = std::env::current_dir();
    let own_network = profile.agent.as_ref().is_some_and(AgentRights::has_own_network);
    enter_own_namespaces(if own_network { NETWORK } else { CloneFlags::empty() })?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| format!("separating mounts: {error}"))?;
    let writable_paths = real_paths(&profile.write);
    // Each writable path becomes a mount of its own, because only entire mounts can be made read-only or left writable.
    for path in &writable_paths {
        let named = |error| format!("mounting {}: {error}", path.display());
        mount_bind_recursive(path, path).map_err(named)?;
    }
    for directory in profile.agent.iter().flat_map(|agent| &agent.hidden) {
        let kept = real_paths(profile.read.iter().chain(&profile.write));
        hide_directory(directory, &kept)?;
    }
    let is_writable = |point: &Path| writable_paths.iter().any(|path| point.starts_with(path));
    for mount in list_mounts()?.iter().filter(|mount| !is_writable(&mount.point)) {
        let flags = mount.flags | MountFlags::BIND | MountFlags::RDONLY;
        // A mount that is hidden by another one, or that this user cannot reach, does no harm; this is verified below.
        let _ = mount_remount(&mount.point, flags, "");
    }
    let open = list_mounts()?.into_iter().find(|mount| {
        !is_writable(&mount.point) && !mount.is_read_only && is_writable_here(&mount.point)
    });
    if let Some(open) = open {
        return Err(format!("{} cannot be made read-only", open.point.display()));
    }
    // The current directory still refers to the old mounts.
    directory
        .and_then(std::env::set_current_dir)
        .map_err(|error| format!("going back to the directory: {error}"))
}

/// The paths that are there, as they really are. Writing to a device does not change the file system that contains its
/// name, so devices are left out.
fn real_paths<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> BTreeSet<PathBuf> {
    let real = paths.into_iter().filter_map(|path| path.canonicalize().ok());
    real.filter(|path| path.is_dir() || path.is_file()).collect()
}

/// Leaves of a directory only what is to be kept: an empty file system is mounted over it, and the kept paths are
/// mounted into that. A directory that is not there, or is kept as a whole, stays as it is.
fn hide_directory(directory: &Path, kept: &BTreeSet<PathBuf>) -> Result<(), String> {
    let Ok(directory) = directory.canonicalize() else { return Ok(()) };
    if directory == Path::new("/") || kept.iter().any(|path| directory.starts_with(path)) {
        return Ok(());
    }
    let failed =
        |what: &Path, error: &dyn std::fmt::Display| format!("hiding {}: {error}", what.display());
    // What lies in another kept path comes with it.
    let inside = kept.iter().filter(|path| path.starts_with(&directory));
    let outermost =
        inside.filter(|path| !kept.iter().any(|other| other != *path && path.starts_with(other)));
    let mut opened = Vec::new();
    for path in outermost {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let handle =
            rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed(path, &error))?;
        opened.push((path, handle, path.is_dir()));
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", &directory, "tmpfs", flags, Some(c"mode=0755,size=4m"))
        .map_err(|error| failed(&directory, &error))?;
    for (path, handle, is_directory) in opened {
        let made = if is_directory {
            std::fs::create_dir_all(path)
        } else {
            let above = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            above.and_then(|()| std::fs::File::create(path).map(|_| ()))
        };
        made.map_err(|error| failed(path, &error))?;
        let source = format!("/proc/self/fd/{}", handle.as_raw_fd());
        mount_bind_recursive(source.as_str(), path).map_err(|error| failed(path, &error))?;
    }
    Ok(())
}

/// Root needs no user namespace; for others it permits the rest.
pub(super) fn enter_own_namespaces(more: CloneFlags) -> Result<(), String> {
    let namespaces = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC | more;
    if nix::sched::unshare(namespaces).is_ok() {
        return Ok(());
    }
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    nix::sched::unshare(namespaces | CloneFlags::CLONE_NEWUSER)
        .map_err(|error| format!("this system gives no namespace of users: {error}"))?;
    let write = |file: &str, text: String| {
        let path = format!("/proc/self/{file}");
        std::fs::write(&path, text).map_err(|error| format!("{path}: {error}"))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))
}

struct MountEntry {
    point: PathBuf,
    is_read_only: bool,
    /// Flags that must be repeated when it is remounted.
    flags: MountFlags,
}

fn list_mounts() -> Result<Vec<MountEntry>, String> {
    let path = "/proc/self/mountinfo";
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let read = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let point = unescape_octal(fields.next()?);
        let options = String::from_utf8_lossy(fields.next()?).into_owned();
        let is_read_only = options.split(',').any(|option| option == "ro");
        Some(MountEntry { point, is_read_only, flags: mount_flags(&options) })
    };
    lines.map(|line| read(line).ok_or_else(|| format!("{path} cannot be read"))).collect()
}

fn mount_flags(options: &str) -> MountFlags {
    let flags = options.split(',').map(|option| match option {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    });
    flags.fold(MountFlags::empty(), MountFlags::union)
}

/// The kernel writes blanks and backslashes in octal.
fn unescape_octal(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, more)) = rest.split_first() {
        let octal = more
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &more[3..] } else { more };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Whether the file at a path is on a writable mount now.
fn is_writable_here(path: &Path) -> bool {
    rustix::fs::statvfs(path)
        .is_ok_and(|status| !status.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_as_the_kernel_writes_them() {
        assert_eq!(unescape_octal(b"/a\\040b\\134c"), Path::new("/a b\\c"));
        assert_eq!(unescape_octal(b"/plain\\"), Path::new("/plain\\"));
        assert_eq!(mount_flags("ro,nosuid,relatime"), MountFlags::NOSUID | MountFlags::RELATIME);
        assert!(list_mounts().unwrap().iter().any(|mount| mount.point == Path::new("/")));
    }
}
