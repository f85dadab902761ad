//! Giving up rights, on Linux. Everything here is done by the helper to itself, before it becomes the command.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, Signal};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::{Limits, Probe, Profile};

/// What is asked of the kernel: files, TCP, signals and abstract sockets.
const WANTED: ABI = ABI::V6;

/// Confines this process and all that come from it. An error means that something could not even be tried.
pub(super) fn confine(profile: &Profile) -> Result<Probe, String> {
    let parent = rustix::process::getppid();
    let named = |what: &'static str| move |error: rustix::io::Errno| format!("{what}: {error}");
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(named("asking to end with the parent"))?;
    if rustix::process::getppid() != parent {
        return Err("the parent is gone".to_owned());
    }
    // No controlling terminal, and a group of its own that can be ended as a whole.
    let _ = rustix::process::setsid();
    limit(profile.limits)?;
    rustix::thread::set_no_new_privs(true).map_err(named("giving up new privileges"))?;
    let status = landlock(profile).map_err(|error| format!("Landlock: {error}"))?;
    seccompiler::apply_filter(&filter(profile.network)?)
        .map_err(|error| format!("seccomp: {error}"))?;
    Ok(probe_of(status))
}

fn probe_of(status: RestrictionStatus) -> Probe {
    let (enforced, detail) = match status.ruleset {
        RulesetStatus::FullyEnforced => {
            (true, "Landlock confines files, TCP and signals; seccomp the rest")
        }
        RulesetStatus::PartiallyEnforced => (
            false,
            "the Landlock of this kernel is too old to confine TCP and signals (Linux 6.12 can)",
        ),
        RulesetStatus::NotEnforced => (false, "this kernel has no Landlock"),
    };
    Probe { enforced: enforced && status.no_new_privs, detail: detail.to_owned() }
}

fn limit(limits: Limits) -> Result<(), String> {
    let lower = |resource: Resource, wanted: u64| {
        let now = rustix::process::getrlimit(resource);
        let most = now.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        let new = Rlimit { current: Some(most), maximum: Some(most) };
        rustix::process::setrlimit(resource, new).map_err(|error| format!("limits: {error}"))
    };
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    lower(Resource::As, limits.memory_bytes)?;
    // The kernel counts all processes of the user, those outside included.
    lower(Resource::Nproc, processes_of_user() + limits.more_processes)
}

/// How many threads this user has now.
fn processes_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let me = rustix::process::getuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == me))
        .filter_map(|entry| std::fs::read_dir(entry.path().join("task")).ok())
        .map(|threads| threads.count() as u64)
        .sum()
}

fn landlock(profile: &Profile) -> Result<RestrictionStatus, landlock::RulesetError> {
    let everything = AccessFs::from_all(WANTED);
    let mut ruleset = Ruleset::default().handle_access(everything)?;
    if !profile.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(WANTED))?;
    }
    let mut created = ruleset.scope(Scope::from_all(WANTED))?.create()?;
    let places = profile
        .read
        .iter()
        .map(|path| (path, AccessFs::from_read(WANTED)))
        .chain(profile.write.iter().map(|path| (path, everything)));
    for (path, access) in places {
        // What is not there needs no rule.
        let Ok(opened) = PathFd::new(path) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(WANTED) };
        created = created.add_rule(PathBeneath::new(opened, access))?;
    }
    created.restrict_self()
}

/// Refuses what Landlock does not cover: other kinds of sockets, looking into processes, `io_uring` (which goes
/// around filters), and leaving the process group (which would outlive it).
fn filter(network: bool) -> Result<BpfProgram, String> {
    let failed = |error: seccompiler::BackendError| format!("seccomp: {error}");
    let always: [i64; 10] = [
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_setsid,
        libc::SYS_setpgid,
        libc::SYS_keyctl,
        libc::SYS_bpf,
    ];
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        always.into_iter().map(|call| (call, Vec::new())).collect();
    let family = |value: libc::c_int| condition(0, SeccompCmpOp::Eq, value);
    let mut sockets = Vec::new();
    for value in [libc::AF_PACKET, libc::AF_VSOCK, libc::AF_UNIX] {
        sockets.push(SeccompRule::new(vec![family(value).map_err(failed)?]).map_err(failed)?);
    }
    if !network {
        for value in [libc::AF_INET, libc::AF_INET6] {
            // Anything but TCP, whose rules are Landlock's. The upper bits of the type are flags.
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET, libc::SOCK_DCCP] {
                let kind = condition(1, SeccompCmpOp::MaskedEq(0xf), kind).map_err(failed)?;
                let both = vec![family(value).map_err(failed)?, kind];
                sockets.push(SeccompRule::new(both).map_err(failed)?);
            }
        }
    }
    rules.insert(libc::SYS_socket, sockets);
    let arch = std::env::consts::ARCH.try_into().map_err(failed)?;
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(failed)?;
    filter.try_into().map_err(failed)
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: libc::c_int,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        operator,
        u64::from(value.cast_unsigned()),
    )
}
