/* Rights, namespaces and the machine itself. Calls that would do harm get arguments that make no sense. */
#include "attempts.h"
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/timex.h>

#define LATER(number, ...) got_past_the_check(syscall(number, __VA_ARGS__))

static int capability_line(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	unsigned long long value;
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name) + 1, "%llx", &value) == 1)
			return value != 0;
	return 0;
}

ATTEMPT("rights", capabilities_effective, { return capability_line("CapEff"); })
ATTEMPT("rights", capabilities_permitted, { return capability_line("CapPrm"); })
ATTEMPT("rights", capabilities_inheritable, { return capability_line("CapInh"); })
ATTEMPT("rights", capabilities_ambient, { return capability_line("CapAmb"); })
ATTEMPT("rights", capabilities_after_a_program, { return system("grep -qE 'Cap(Eff|Prm):.*[1-9a-f]' /proc/self/status") == 0; })
ATTEMPT("rights", capabilities_raised, { struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0}; struct __user_cap_data_struct all[2] = {{~0u, ~0u, ~0u}, {0x1ff, 0x1ff, 0x1ff}}; return did(syscall(SYS_capset, &head, all)); })
ATTEMPT("rights", ambient_raised, { return did(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0)); })
ATTEMPT("rights", new_privileges, { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1; })
ATTEMPT("rights", no_filter, { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2; })
ATTEMPT("rights", another_user, { return did(setresuid(12345, 12345, 12345)); })
ATTEMPT("rights", other_groups, { gid_t group = 12345; return did(setgroups(1, &group)); })
ATTEMPT("rights", another_group, { return did(setresgid(12345, 12345, 12345)); })
ATTEMPT("rights", give_a_file_away, { close(open("given", O_CREAT | O_WRONLY, 0600)); return did(chown("given", 12345, 12345)); })
ATTEMPT("rights", read_without_permission, { close(open("closed", O_CREAT | O_WRONLY, 0)); return opens("closed", O_RDONLY); })
ATTEMPT("rights", a_device, { return did(mknod("device", S_IFCHR | 0600, makedev(1, 1))); })

#define UNSHARE(name, flag) ATTEMPT("namespaces", name, { return did(unshare(flag)); })
UNSHARE(users, CLONE_NEWUSER)
UNSHARE(mounts, CLONE_NEWNS)
UNSHARE(users_and_mounts, CLONE_NEWUSER | CLONE_NEWNS)
UNSHARE(network, CLONE_NEWNET)
UNSHARE(users_and_network, CLONE_NEWUSER | CLONE_NEWNET)
UNSHARE(processes, CLONE_NEWPID)
UNSHARE(names_of_the_host, CLONE_NEWUTS)
UNSHARE(queues, CLONE_NEWIPC)
UNSHARE(groups_of_control, CLONE_NEWCGROUP)
UNSHARE(time_of_its_own, 0x80)
ATTEMPT("namespaces", users_by_clone, { pid_t child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); if (child == 0) _exit(0); return child > 0; })
ATTEMPT("namespaces", users_by_clone3, { struct clone_args how = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD}; pid_t child = syscall(SYS_clone3, &how, sizeof how); if (child == 0) _exit(0); return child > 0; })
ATTEMPT("namespaces", mounts_of_the_victim, { char path[64]; snprintf(path, sizeof path, "/proc/%ld/ns/mnt", target_number("VICTIM")); int file = open(path, O_RDONLY); return did(setns(file, 0)); })
ATTEMPT("namespaces", everything_of_the_victim, { int process = syscall(SYS_pidfd_open, (pid_t)target_number("VICTIM"), 0); return process >= 0 && did(setns(process, CLONE_NEWNS | CLONE_NEWUSER)); })

ATTEMPT("mounts", bind, { mkdir("here", 0700); return did(mount(target("OUTSIDE"), "here", NULL, MS_BIND, NULL)); })
ATTEMPT("mounts", memory_file_system, { mkdir("here", 0700); return did(mount("none", "here", "tmpfs", 0, NULL)); })
ATTEMPT("mounts", make_writable, { return did(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL)); })
ATTEMPT("mounts", take_away, { return did(umount2(target("WORK"), MNT_DETACH)); })
ATTEMPT("mounts", another_root, { return did(chroot(".")); })
ATTEMPT("mounts", exchange_the_root, { return LATER(SYS_pivot_root, ".", "."); })
ATTEMPT("mounts", copy_of_a_tree, { return did(syscall(SYS_open_tree, AT_FDCWD, target("OUTSIDE"), 1)); })
ATTEMPT("mounts", move_a_tree, { return LATER(SYS_move_mount, -1, "", -1, "", 0); })
ATTEMPT("mounts", open_a_file_system, { return LATER(SYS_fsopen, "tmpfs", 0); })
ATTEMPT("mounts", pick_a_file_system, { return LATER(SYS_fspick, AT_FDCWD, ".", 0); })
ATTEMPT("mounts", attributes_of_a_mount, { uint64_t attributes[4] = {0}; return LATER(SYS_mount_setattr, AT_FDCWD, "/", 0, attributes, sizeof attributes); })

ATTEMPT("kernel", asynchronous_ring, { char parameters[256] = {0}; return LATER(SYS_io_uring_setup, 1, parameters); })
ATTEMPT("kernel", asynchronous_ring_entered, { return LATER(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0); })
ATTEMPT("kernel", asynchronous_ring_registered, { return LATER(SYS_io_uring_register, -1, 0, NULL, 0); })
ATTEMPT("kernel", programs_in_the_kernel, { char attributes[128] = {0}; return LATER(SYS_bpf, 0, attributes, sizeof attributes); })
ATTEMPT("kernel", performance_counters, { struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .exclude_kernel = 1}; return did(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0)); })
ATTEMPT("kernel", page_faults, { return LATER(SYS_userfaultfd, 1); })
ATTEMPT("kernel", session_keyring, { return did(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1)); })
ATTEMPT("kernel", add_a_key, { return did(syscall(SYS_add_key, "user", "planwright", "x", 1, KEY_SPEC_PROCESS_KEYRING)); })
ATTEMPT("kernel", ask_for_a_key, { return LATER(SYS_request_key, "user", "planwright", NULL, 0); })
ATTEMPT("kernel", watch_all_files, { return LATER(SYS_fanotify_init, 0x200, O_RDONLY); })
ATTEMPT("kernel", quotas, { return LATER(SYS_quotactl, 0, NULL, 0, NULL); })
ATTEMPT("kernel", swap, { return LATER(SYS_swapon, "/no/such/file", 0); })
ATTEMPT("kernel", restart, { return LATER(SYS_reboot, 0, 0, 0, 0); })
ATTEMPT("kernel", another_kernel, { return LATER(SYS_kexec_load, 0, 99, NULL, ~0ul); })
ATTEMPT("kernel", load_a_module, { return LATER(SYS_init_module, "", 0, ""); })
ATTEMPT("kernel", load_a_module_by_file, { return LATER(SYS_finit_module, -1, "", 0); })
ATTEMPT("kernel", remove_a_module, { return LATER(SYS_delete_module, "no-such-module", O_NONBLOCK); })
ATTEMPT("kernel", accounting, { return LATER(SYS_acct, "/no/such/file"); })
ATTEMPT("kernel", clock_of_the_machine, { struct timespec now; clock_gettime(CLOCK_REALTIME, &now); return did(clock_settime(CLOCK_REALTIME, &now)); })
ATTEMPT("kernel", clock_of_the_day, { struct timeval now; gettimeofday(&now, NULL); return did(settimeofday(&now, NULL)); })
ATTEMPT("kernel", clock_adjusted, { struct timex nothing = {0}; return did(clock_adjtime(CLOCK_REALTIME, &nothing)); })
ATTEMPT("kernel", name_of_the_host, { char name[256]; gethostname(name, sizeof name); return did(sethostname(name, strlen(name))); })
ATTEMPT("kernel", messages_of_the_kernel, { char text[64]; return did(syscall(SYS_syslog, 3, text, sizeof text)); })
#ifdef __x86_64__
ATTEMPT("kernel", ports_of_the_machine, { return did(syscall(SYS_iopl, 3)); })
#endif
