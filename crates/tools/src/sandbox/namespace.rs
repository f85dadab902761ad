//! A view of the file system in which only what the command may write can be changed at all.
//!
//! Landlock does not cover modes, owners, times and extended attributes: a command could change those of any file that
//! belongs to the user. A read-only mount refuses that too. It needs a mount namespace, and therefore either root or a
//! kernel that allows unprivileged user namespaces.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::sched::CloneFlags;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount,
};

/// Makes everything read-only for this process except the given paths. Shared memory and queues become private as well.
pub(super) fn enter_namespace(writable: &[PathBuf]) -> Result<(), String> {
    let directory = std::env::current_dir();
    enter_own_namespaces()?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| format!("separating mounts: {error}"))?;
    let writable_paths: BTreeSet<PathBuf> = writable
        .iter()
        // What is not there cannot be written to.
        .filter_map(|path| path.canonicalize().ok())
        // Writing to a device does not change the file system that contains its name.
        .filter(|path| path.is_dir() || path.is_file())
        .collect();
    // Each writable path becomes a mount of its own, because only entire mounts can be made read-only or left writable.
    for path in &writable_paths {
        let named = |error| format!("mounting {}: {error}", path.display());
        mount_bind_recursive(path, path).map_err(named)?;
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

/// Root needs no user namespace; for others it permits the rest.
fn enter_own_namespaces() -> Result<(), String> {
    let namespaces = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
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
