//! Gives up what a process inherited: open descriptors and capabilities.

use std::os::fd::RawFd;
use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

/// Where the kernel does not list descriptors, this many numbers are tried.
#[cfg(target_os = "linux")]
const MOST_DESCRIPTORS: RawFd = 65_536;

/// Closes every descriptor above 2.
#[cfg(target_os = "linux")]
pub(super) fn close_descriptors() {
    // The list itself is read through a descriptor, which is closed by the time this returns.
    let open = inherited_descriptors().unwrap_or_else(|| (3..MOST_DESCRIPTORS).collect());
    for descriptor in open {
        // What is not open needs no closing.
        let _ = nix::unistd::close(descriptor);
    }
}

/// Marks every inherited descriptor above 2 as close-on-exec, so that no program started from here on gets it. Must run
/// before anything is opened and before there is a second thread. An error names those that are not marked.
pub fn seal_descriptors() -> Result<(), String> {
    let Some(inherited) = inherited_descriptors() else {
        return Err(
            "the system does not list open descriptors; commands may inherit them".to_owned()
        );
    };
    let failed: Vec<String> = inherited
        .into_iter()
        .filter_map(|descriptor| {
            let error = seal_descriptor(descriptor).err()?;
            Some(format!("{descriptor} ({error})"))
        })
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "inherited descriptors were closed, since they cannot be kept from commands: {}",
        failed.join(", ")
    ))
}

/// A marked duplicate of the same open file replaces the first descriptor: a bare number cannot be marked in safe code.
/// It stays open, because a path such as /dev/fd/63 may refer to it.
fn seal_descriptor(descriptor: RawFd) -> Result<(), String> {
    let copy = filedescriptor::FileDescriptor::dup(&descriptor);
    let _ = nix::unistd::close(descriptor);
    let copy = copy.map_err(|error| error.to_string())?;
    let sealed = rustix::io::fcntl_dupfd_cloexec(&copy, descriptor);
    let sealed = sealed.map_err(|error| error.to_string())?;
    // Kept open for as long as the process lives.
    let _ = std::os::fd::IntoRawFd::into_raw_fd(sealed);
    Ok(())
}

/// Open descriptors above 2. `None` if the kernel does not list them.
fn inherited_descriptors() -> Option<Vec<RawFd>> {
    // The second is for systems without /proc, such as macOS.
    ["/proc/self/fd", "/dev/fd"].iter().find_map(|list| descriptors_listed_in(Path::new(list)))
}

/// `None` where there is no such list; the caller then tries all numbers.
fn descriptors_listed_in(list: &Path) -> Option<Vec<RawFd>> {
    let listed: Vec<RawFd> = std::fs::read_dir(list)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    // The descriptor through which the list was read is in it, and closed by now.
    let is_open = |descriptor: &RawFd| list.join(descriptor.to_string()).symlink_metadata().is_ok();
    Some(listed.into_iter().filter(is_open).collect())
}

/// Drops all capabilities, including those that a program owned by root would get when it is started. The error names
/// the step that failed, or that some are left.
#[cfg(target_os = "linux")]
pub(super) fn drop_capabilities() -> Result<(), String> {
    let failed = |error: rustix::io::Errno| format!("dropping capabilities: {error}");
    let none = CapabilitySet::empty();
    // Both need a capability themselves. Without it there is nothing to gain, which is checked below.
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    // Whoever may not do this has no capabilities to lose; what is left is checked below.
    let _ = rustix::thread::set_capabilities_secure_bits(bits);
    for capability in all_capabilities() {
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    rustix::thread::clear_ambient_capability_set().map_err(failed)?;
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).map_err(failed)?;
    let remaining = rustix::thread::capabilities(None).map_err(failed)?;
    if remaining.effective.union(remaining.permitted).union(remaining.inheritable) != none {
        return Err("capabilities cannot be dropped here".to_owned());
    }
    // An ordinary user cannot empty the bounding set. With no new privileges it grants nothing in that case; to root it
    // would.
    let bounded = |capability| rustix::thread::capability_is_in_bounding_set(capability);
    let is_root = rustix::process::geteuid().is_root() || rustix::process::getuid().is_root();
    if is_root && all_capabilities().any(|capability| bounded(capability).unwrap_or(false)) {
        return Err("capabilities of root cannot be dropped for good here".to_owned());
    }
    Ok(())
}

/// One set for each capability; the kernel rejects numbers that it does not know.
#[cfg(target_os = "linux")]
fn all_capabilities() -> impl Iterator<Item = CapabilitySet> {
    (0..64).map(|number| CapabilitySet::from_bits_retain(1 << number))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn open_descriptors_are_listed_with_and_without_proc() {
        let file = tempfile::tempfile().unwrap();
        let is_listed = |list: Option<Vec<RawFd>>| list.unwrap().contains(&file.as_raw_fd());
        assert!(is_listed(descriptors_listed_in(Path::new("/dev/fd"))));
        assert!(is_listed(inherited_descriptors()));
        assert!(descriptors_listed_in(Path::new("/nonexistent")).is_none());
    }
}
