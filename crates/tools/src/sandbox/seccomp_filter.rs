//! System calls that a confined command may not make. Landlock covers files and signals; this covers the rest: sockets,
//! other processes, namespaces, the machine.
//!
//! Every rule names what is refused. Sockets are the exception: the allowed families are named, so that a family added
//! by a later kernel is refused.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

/// Inspecting or changing other processes, and kernel interfaces that bypass other checks.
const PROCESSES: [i64; 16] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_fanotify_init,
];
/// Leaving the session or the group, which could outlive the command.
const GROUPS: [i64; 2] = [libc::SYS_setsid, libc::SYS_setpgid];
/// Changing what a path means, or referring to files without one.
const MOUNTS: [i64; 14] = [
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
];
/// Settings of the entire machine.
const MACHINE: [i64; 18] = [
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: [i64; 4] =
    [libc::SYS_kexec_file_load, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const ARCHITECTURE: [i64; 0] = [];
/// Shared memory, semaphores and queues that belong to the namespace and not to a directory.
const SHARED: [i64; 13] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];
/// Reported as nonexistent, so that libraries fall back to calls that can be checked: a filter cannot see what the
/// arguments of these point to.
const ABSENT: [i64; 4] = [
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];
/// `clone` and `unshare` flags that create a namespace.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// The flag for a time namespace, which `clone` does not accept.
const CLONE_NEWTIME: libc::c_int = 0x80;
/// Requests that insert text into a terminal's input, or take over a terminal.
const TERMINAL_REQUESTS: [libc::c_int; 3] = [0x5412, 0x541c, 0x540e];
/// Calls whose first argument is a process: only the own one, which is 0.
const OWN_PROCESS: [i64; 5] = [
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];
/// Internet protocols that a command with network access may use: the default of the type, TCP, UDP and MPTCP.
const PROTOCOLS: [libc::c_int; 4] = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_MPTCP];
/// Lists the machine's network interfaces; it cannot reach another process.
const NETLINK_ROUTE: libc::c_int = 0;

/// What decides which calls are refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeccompOptions {
    pub(super) network: bool,
    /// Shared memory and queues are private to the command, because it has its own namespace for them.
    pub(super) own_ipc: bool,
    /// An agent of the person's own, which may make sessions and groups.
    pub(super) agent: bool,
    /// Unix sockets may be made and connected.
    pub(super) unix_sockets: bool,
}

/// The filters, in the order in which they are installed.
pub(super) fn build_filters(choice: SeccompOptions) -> Result<[BpfProgram; 2], String> {
    let failed = |error: BackendError| format!("seccomp: {error}");
    let absent = ABSENT.into_iter().map(|call| (call, Vec::new())).collect();
    let mut first = compile_filter(absent, libc::ENOSYS).map_err(failed)?;
    // Calls of the x32 ABI have their own numbers and would match no rule.
    if cfg!(target_arch = "x86_64") {
        first.splice(0..0, refuse_calls_from(0x4000_0000));
    }
    Ok([
        first,
        compile_filter(refused_calls(choice).map_err(failed)?, libc::EPERM).map_err(failed)?,
    ])
}

type SeccompRuleTable = BTreeMap<i64, Vec<SeccompRule>>;

fn refused_calls(choice: SeccompOptions) -> Result<SeccompRuleTable, BackendError> {
    let always = PROCESSES.iter().chain(&MOUNTS).chain(&MACHINE).chain(&ARCHITECTURE);
    let mut table: SeccompRuleTable = always.map(|call| (*call, Vec::new())).collect();
    if !choice.agent {
        table.extend(GROUPS.iter().map(|call| (*call, Vec::new())));
    }
    if !choice.own_ipc {
        table.extend(SHARED.iter().map(|call| (*call, Vec::new())));
    }
    for call in OWN_PROCESS {
        table.insert(call, vec![build_rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
    }
    // Besides one process, these can name a group or, as 2 and 3, all processes of a user.
    for (call, everybody) in [(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)] {
        let rules = [
            build_rule(&[(1, SeccompCmpOp::Ne, 0)])?,
            build_rule(&[(0, SeccompCmpOp::Eq, everybody)])?,
        ];
        table.insert(call, rules.into());
    }
    let flags = |flags: &[libc::c_int]| -> Result<Vec<SeccompRule>, BackendError> {
        let bits = flags.iter().map(|flag| {
            build_rule(&[(0, SeccompCmpOp::MaskedEq(u64::from(flag.cast_unsigned())), *flag)])
        });
        bits.collect()
    };
    table.insert(libc::SYS_clone, flags(&NAMESPACES)?);
    let mut unshare = flags(&NAMESPACES)?;
    unshare.extend(flags(&[CLONE_NEWTIME])?);
    table.insert(libc::SYS_unshare, unshare);
    let requests =
        TERMINAL_REQUESTS.iter().map(|request| build_rule(&[(1, SeccompCmpOp::Eq, *request)]));
    table.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    table.insert(libc::SYS_socket, refused_sockets(choice)?);
    table.insert(libc::SYS_socketpair, refused_pairs(choice.unix_sockets)?);
    Ok(table)
}

/// Every pair except connected Unix sockets. A pair of datagram sockets could still send to any named socket, and the
/// kernel turns `SOCK_RAW` into datagram sockets too.
fn refused_pairs(unix_sockets: bool) -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = vec![build_rule(&[(0, SeccompCmpOp::Ne, libc::AF_UNIX)])?];
    if unix_sockets {
        return Ok(rules);
    }
    let allowed = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
    // The upper bits of the type are flags.
    for kind in (0..16).filter(|kind| !allowed.contains(kind)) {
        rules.push(build_rule(&[(1, SeccompCmpOp::MaskedEq(0xf), kind)])?);
    }
    Ok(rules)
}

/// Every socket except the allowed ones. Without network access, only listing the interfaces remains.
fn refused_sockets(choice: SeccompOptions) -> Result<Vec<SeccompRule>, BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let mut rules = vec![build_rule(&[(0, Eq, libc::AF_NETLINK), (2, Ne, NETLINK_ROUTE)])?];
    let mut allowed = vec![libc::AF_NETLINK];
    allowed.extend(choice.network.then_some([libc::AF_INET, libc::AF_INET6]).into_iter().flatten());
    allowed.extend(choice.unix_sockets.then_some(libc::AF_UNIX));
    let conditions: Vec<_> = allowed.into_iter().map(|family| (0, Ne, family)).collect();
    rules.push(build_rule(&conditions)?);
    if !choice.network {
        return Ok(rules);
    }
    for family in [libc::AF_INET, libc::AF_INET6] {
        // The upper bits of the type are flags.
        for kind in (0..16).filter(|kind| ![libc::SOCK_STREAM, libc::SOCK_DGRAM].contains(kind)) {
            rules.push(build_rule(&[(0, Eq, family), (1, MaskedEq(0xf), kind)])?);
        }
        let mut conditions = vec![(0, Eq, family)];
        conditions.extend(PROTOCOLS.iter().map(|protocol| (2, Ne, *protocol)));
        rules.push(build_rule(&conditions)?);
    }
    Ok(rules)
}

/// A rule that matches when all of its conditions do: argument, comparison, value.
fn build_rule(conditions: &[(u8, SeccompCmpOp, libc::c_int)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        let value = u64::from(value.cast_unsigned());
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

fn compile_filter(table: SeccompRuleTable, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let architecture = std::env::consts::ARCH.try_into()?;
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(table, SeccompAction::Allow, refuse, architecture)?.try_into()
}

/// Refuses every call with this number or a higher one, before any other rule.
fn refuse_calls_from(number: u32) -> [sock_filter; 3] {
    const LOAD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ERRNO: u32 = 0x0005_0000;
    [
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: number },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERRNO | libc::ENOSYS.cast_unsigned() },
    ]
}
