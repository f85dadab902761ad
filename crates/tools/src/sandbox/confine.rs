//! Gives up rights, on Linux. The helper does everything here to itself, before it becomes the command.

use landlock::{
    ABI, Access, AccessFs, AccessNet, NetPort, PathBeneath, PathFd, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, Signal};

use super::seccomp_filter::{SeccompOptions, build_filters};
use super::{
    AgentNetworkRights, AgentRights, SandboxLimits, SandboxProbe, SandboxProfile, namespace,
    own_network, process_rights,
};

/// The Landlock version requested from the kernel: files, TCP, signals and abstract sockets.
const WANTED: ABI = ABI::V6;
/// The message for systems without user namespaces.
const METADATA_LIMIT: &str = "Landlock and seccomp confine files, network and processes; this system gives no \
    namespaces of users, so a command can change modes and times of your files outside the workspace, not their content";

/// Confines this process and all its descendants. An error means that a step could not even be attempted.
pub(super) fn confine_process(profile: &SandboxProfile) -> Result<SandboxProbe, String> {
    let parent = rustix::process::getppid();
    let named = |step: &'static str| move |error: rustix::io::Errno| format!("{step}: {error}");
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(named("asking to end with the parent"))?;
    // If the parent ended before the signal was set, it will never be sent, and the command would outlive Planwright.
    if rustix::process::getppid() != parent {
        return Err("the parent is gone".to_owned());
    }
    // No controlling terminal, and a group of its own that can be ended as a whole. It fails only for who has both.
    let _ = rustix::process::setsid();
    process_rights::close_descriptors();
    apply_limits(profile.limits)?;
    // The order of the following steps matters. Mounting comes first: it needs capabilities, and Landlock refuses it.
    // `no_new_privs` must precede Landlock and seccomp, which unprivileged processes may only use with it. seccomp
    // comes last, because it refuses calls used above, such as `setsid` and `mount`.
    if profile.own_mounts {
        namespace::enter_namespace(profile)?;
    }
    if let Some(AgentRights { network: AgentNetworkRights::Own { handover, ports }, .. }) =
        &profile.agent
    {
        if !profile.own_mounts {
            return Err("a network of its own needs namespaces".to_owned());
        }
        own_network::hand_over_listeners(handover, ports)?;
    }
    rustix::thread::set_no_new_privs(true).map_err(named("giving up new privileges"))?;
    let status = restrict_with_landlock(profile).map_err(|error| format!("Landlock: {error}"))?;
    process_rights::drop_capabilities()?;
    let choice = SeccompOptions {
        network: profile.network,
        own_ipc: profile.own_mounts,
        agent: profile.agent.is_some(),
        // Sockets of other programs are only out of reach where their directories are hidden.
        unix_sockets: profile.agent.is_some() && profile.own_mounts,
    };
    for filter in build_filters(choice)? {
        seccompiler::apply_filter(&filter).map_err(|error| format!("seccomp: {error}"))?;
    }
    Ok(probe_from_status(&status, profile.own_mounts))
}

fn probe_from_status(status: &RestrictionStatus, own_mounts: bool) -> SandboxProbe {
    let (enforced, detail) = match status.ruleset {
        RulesetStatus::FullyEnforced if own_mounts => {
            (true, "Landlock, seccomp and read-only mounts confine files, network and processes")
        }
        RulesetStatus::FullyEnforced => (true, METADATA_LIMIT),
        // A partial ruleset is treated as none: the user would be told that commands are confined while TCP or signals
        // are open.
        RulesetStatus::PartiallyEnforced => (
            false,
            "the Landlock of this kernel is too old to confine TCP and signals (Linux 6.12 can)",
        ),
        RulesetStatus::NotEnforced => (false, "this kernel has no Landlock"),
    };
    SandboxProbe {
        enforced: enforced && status.no_new_privs,
        own_mounts,
        detail: detail.to_owned(),
    }
}

fn apply_limits(limits: SandboxLimits) -> Result<(), String> {
    let lower = |resource: Resource, requested: u64| {
        let now = rustix::process::getrlimit(resource);
        let most = now.maximum.map_or(requested, |maximum| maximum.min(requested));
        let new = Rlimit { current: Some(most), maximum: Some(most) };
        rustix::process::setrlimit(resource, new).map_err(|error| format!("limits: {error}"))
    };
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    if let Some(bytes) = limits.memory_bytes {
        lower(Resource::As, bytes)?;
    }
    // The kernel counts all processes of the user, including those outside the sandbox.
    lower(Resource::Nproc, count_user_threads() + limits.more_processes)
}

/// How many threads this user has now.
fn count_user_threads() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let me = rustix::process::getuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    // Processes that end while they are counted do not count.
    entries
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == me))
        .filter_map(|entry| std::fs::read_dir(entry.path().join("task")).ok())
        .map(|threads| threads.count() as u64)
        .sum()
}

fn restrict_with_landlock(
    profile: &SandboxProfile,
) -> Result<RestrictionStatus, landlock::RulesetError> {
    let everything = AccessFs::from_all(WANTED);
    let mut ruleset = Ruleset::default().handle_access(everything)?;
    let ports: &[u16] = match &profile.agent {
        Some(AgentRights { network: AgentNetworkRights::Ports { connect }, .. }) => {
            ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
            connect
        }
        _ if profile.network => &[],
        _ => {
            ruleset = ruleset.handle_access(AccessNet::from_all(WANTED))?;
            &[]
        }
    };
    let mut created = ruleset.scope(Scope::from_all(WANTED))?.create()?;
    for port in ports {
        created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    let rules = profile
        .read
        .iter()
        .map(|path| (path, AccessFs::from_read(WANTED)))
        .chain(profile.write.iter().map(|path| (path, everything)));
    for (path, access) in rules {
        // A path that does not exist needs no rule.
        let Ok(opened) = PathFd::new(path) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(WANTED) };
        created = created.add_rule(PathBeneath::new(opened, access))?;
    }
    created.restrict_self()
}
