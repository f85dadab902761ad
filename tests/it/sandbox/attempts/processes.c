/* Other processes: signals, limits, scheduling, memory, descriptors; terminals and shared memory. */
#include "attempts.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <termios.h>

#define VICTIM ((pid_t)target_number("VICTIM"))

static int of_victim(const char *what, const char *text)
{
	char path[128];
	snprintf(path, sizeof path, "/proc/%d/%s", VICTIM, what);
	return reads(path, text);
}

/* The process that started a process. */
static pid_t parent_of(pid_t process)
{
	char path[64], text[1024] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", process);
	FILE *file = fopen(path, "r");
	if (!file)
		return 0;
	size_t length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = 0;
	char *name = strrchr(text, ')');
	int parent = 0;
	if (name)
		sscanf(name + 1, " %*c %d", &parent);
	return parent;
}

/* Whether the environment of any process this one descends from can be read and holds the text. */
static int environment_of_ancestors(const char *text)
{
	for (pid_t process = getppid(); process > 1; process = parent_of(process)) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/environ", process);
		if (reads(path, text))
			return 1;
	}
	return 0;
}

ATTEMPT("signals", test_the_victim, { return did(kill(VICTIM, 0)); })
ATTEMPT("signals", end_the_victim, { return did(kill(VICTIM, SIGTERM)); })
ATTEMPT("signals", hang_up_the_victim, { return did(kill(VICTIM, SIGHUP)); })
ATTEMPT("signals", continue_the_victim, { return did(kill(VICTIM, SIGCONT)); })
ATTEMPT("signals", signal_its_group, { return did(killpg(getpgid(VICTIM), SIGUSR1)); })
ATTEMPT("signals", signal_its_thread, { return did(syscall(SYS_tkill, VICTIM, SIGUSR1)); })
ATTEMPT("signals", signal_its_thread_by_group, { return did(syscall(SYS_tgkill, VICTIM, VICTIM, SIGUSR1)); })
ATTEMPT("signals", queue_a_signal, { return did(sigqueue(VICTIM, SIGUSR1, (union sigval){0})); })
ATTEMPT("signals", queue_a_signal_for_its_thread, { siginfo_t info = {.si_signo = SIGUSR1, .si_code = -1}; return did(syscall(SYS_rt_tgsigqueueinfo, VICTIM, VICTIM, SIGUSR1, &info)); })
ATTEMPT("signals", signal_by_descriptor, { int process = syscall(SYS_pidfd_open, VICTIM, 0); return process >= 0 && did(syscall(SYS_pidfd_send_signal, process, SIGUSR1, NULL, 0)); })
ATTEMPT("signals", signal_everybody, { kill(-1, SIGURG); return JUDGED_OUTSIDE; })
ATTEMPT("signals", signal_when_a_pipe_is_ready, { int ends[2]; if (pipe(ends)) return 0; fcntl(ends[0], F_SETOWN, VICTIM); fcntl(ends[0], F_SETFL, O_ASYNC); if (write(ends[1], "x", 1) != 1) return 0; return JUDGED_OUTSIDE; })
ATTEMPT("signals", signal_the_program, { return did(kill(parent_of(getsid(0)), 0)); })
ATTEMPT("signals", signal_the_first_process, { return did(kill(1, 0)); })

static int limits_victim(int what)
{
	struct rlimit low = {1, 1};
	return did(prlimit(VICTIM, what, &low, NULL));
}

ATTEMPT("limits", processor_time_of_the_victim, { return limits_victim(RLIMIT_CPU); })
ATTEMPT("limits", open_files_of_the_victim, { return limits_victim(RLIMIT_NOFILE); })
ATTEMPT("limits", file_size_of_the_victim, { return limits_victim(RLIMIT_FSIZE); })
ATTEMPT("limits", memory_of_the_victim, { return limits_victim(RLIMIT_AS); })
ATTEMPT("limits", processes_of_the_victim, { return limits_victim(RLIMIT_NPROC); })
ATTEMPT("limits", read_limits_of_the_victim, { struct rlimit limit; return did(prlimit(VICTIM, RLIMIT_CPU, NULL, &limit)); })
ATTEMPT("limits", raise_own_processes, { struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY}; return did(setrlimit(RLIMIT_NPROC, &limit)); })
ATTEMPT("limits", raise_own_file_size, { struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY}; return did(setrlimit(RLIMIT_FSIZE, &limit)); })
ATTEMPT("limits", raise_own_memory, { struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY}; return did(setrlimit(RLIMIT_AS, &limit)); })

ATTEMPT("scheduling", priority_of_the_victim, { return did(setpriority(PRIO_PROCESS, VICTIM, 19)); })
ATTEMPT("scheduling", priority_of_its_group, { return did(setpriority(PRIO_PGRP, getpgid(VICTIM), 19)); })
ATTEMPT("scheduling", priority_of_the_person, { return did(setpriority(PRIO_USER, getuid(), 19)); })
ATTEMPT("scheduling", priority_of_the_person_as_zero, { return did(setpriority(PRIO_USER, 0, 19)); })
ATTEMPT("scheduling", raise_own_priority, { return did(setpriority(PRIO_PROCESS, 0, -10)); })
ATTEMPT("scheduling", processors_of_the_victim, { cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one); return did(sched_setaffinity(VICTIM, sizeof one, &one)); })
ATTEMPT("scheduling", policy_of_the_victim, { struct sched_param none = {0}; return did(sched_setscheduler(VICTIM, SCHED_BATCH, &none)); })
ATTEMPT("scheduling", parameters_of_the_victim, { struct sched_param none = {0}; return did(sched_setparam(VICTIM, &none)); })
ATTEMPT("scheduling", attributes_of_the_victim, { struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t times[3]; } a = {.size = 48, .nice = 19}; return did(syscall(SYS_sched_setattr, VICTIM, &a, 0)); })
ATTEMPT("scheduling", own_realtime, { struct sched_param one = {.sched_priority = 1}; return did(sched_setscheduler(0, SCHED_FIFO, &one)); })
ATTEMPT("scheduling", disk_priority_of_the_victim, { return did(syscall(SYS_ioprio_set, 1, VICTIM, 3 << 13)); })
ATTEMPT("scheduling", disk_priority_of_the_person, { return did(syscall(SYS_ioprio_set, 3, getuid(), 3 << 13)); })
ATTEMPT("scheduling", disk_priority_of_the_person_as_zero, { return did(syscall(SYS_ioprio_set, 3, 0, 3 << 13)); })
ATTEMPT("scheduling", memory_node_of_the_victim, { unsigned long node = 1; return did(syscall(SYS_migrate_pages, VICTIM, 8 * sizeof node, &node, &node)); })
ATTEMPT("scheduling", pages_of_the_victim, { void *page = (void *)(target_number("MEMORY") & ~4095L); int status; return did(syscall(SYS_move_pages, VICTIM, 1, &page, NULL, &status, 0)); })

ATTEMPT("ptrace", attach, { return did(ptrace(PTRACE_ATTACH, VICTIM, NULL, NULL)); })
ATTEMPT("ptrace", seize, { return did(ptrace(PTRACE_SEIZE, VICTIM, NULL, NULL)); })
ATTEMPT("ptrace", be_traced, { return did(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); })
ATTEMPT("ptrace", read_memory, { char text[64]; struct iovec here = {text, 64}; struct iovec there = {(void *)target_number("MEMORY"), 64}; return did(process_vm_readv(VICTIM, &here, 1, &there, 1, 0)); })
ATTEMPT("ptrace", write_memory, { char text[64] = "changed"; struct iovec here = {text, 64}; struct iovec there = {(void *)target_number("MEMORY"), 64}; return did(process_vm_writev(VICTIM, &here, 1, &there, 1, 0)); })
ATTEMPT("ptrace", memory_as_a_file, { char path[64]; snprintf(path, sizeof path, "/proc/%d/mem", VICTIM); int file = open(path, O_RDWR); char text[8]; return file >= 0 && did(pread(file, text, 8, target_number("MEMORY"))); })
ATTEMPT("ptrace", compare, { return did(syscall(SYS_kcmp, getpid(), VICTIM, 0, 0, 0)); })
ATTEMPT("ptrace", advise, { int process = syscall(SYS_pidfd_open, VICTIM, 0); struct iovec there = {(void *)(target_number("MEMORY") & ~4095L), 4096}; return process >= 0 && did(syscall(SYS_process_madvise, process, &there, 1, MADV_COLD, 0)); })
ATTEMPT("ptrace", release_memory, { int process = syscall(SYS_pidfd_open, VICTIM, 0); return process >= 0 && got_past_the_check(syscall(SYS_process_mrelease, process, 0)); })
ATTEMPT("ptrace", allow_a_tracer_of_ones_own, { pid_t child = fork(); if (child == 0) { pause(); _exit(0); } int traced = did(ptrace(PTRACE_SEIZE, child, NULL, NULL)); kill(child, SIGKILL); return traced; })

ATTEMPT("proc", environment_of_the_program, { return environment_of_ancestors("secret-of-the-environment"); })
ATTEMPT("proc", environment_of_the_victim, { return of_victim("environ", "secret-of-the-environment"); })
ATTEMPT("proc", environment_of_anybody, { DIR *list = opendir("/proc"); struct dirent *entry; while (list && (entry = readdir(list))) { char path[320]; snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name); if (reads(path, "secret-of-the-environment")) return 1; } return 0; })
ATTEMPT("proc", own_environment, { return reads("/proc/self/environ", "secret-of-the-environment"); })
ATTEMPT("proc", memory_map_of_the_victim, { return of_victim("maps", NULL); })
ATTEMPT("proc", memory_map_in_detail, { return of_victim("smaps", NULL); })
ATTEMPT("proc", start_values_of_the_victim, { return of_victim("auxv", NULL); })
ATTEMPT("proc", pages_of_the_victim_by_file, { return of_victim("pagemap", NULL); })
ATTEMPT("proc", call_of_the_victim, { return of_victim("syscall", NULL); })
ATTEMPT("proc", kernel_stack_of_the_victim, { return of_victim("stack", NULL); })
ATTEMPT("proc", descriptors_of_the_victim, { char path[64], text[64]; snprintf(path, sizeof path, "/proc/%d/fd/0", VICTIM); return did(readlink(path, text, sizeof text)); })
ATTEMPT("proc", program_file_of_the_victim, { char path[64], text[64]; snprintf(path, sizeof path, "/proc/%d/exe", VICTIM); return did(readlink(path, text, sizeof text)); })
ATTEMPT("proc", make_the_victim_die_first, { char path[64]; snprintf(path, sizeof path, "/proc/%d/oom_score_adj", VICTIM); return opens(path, O_WRONLY); })
ATTEMPT("proc", memory_of_the_kernel, { return opens("/proc/kcore", O_RDONLY); })
ATTEMPT("proc", magic_keys, { return opens("/proc/sysrq-trigger", O_WRONLY); })

ATTEMPT("descriptors", any_above_two, { for (int i = 3; i < 1024; i++) if (fcntl(i, F_GETFD) >= 0) return 1; return 0; })
ATTEMPT("descriptors", read_a_file_of_the_caller, { char text[8]; return did(pread(7, text, 8, 0)); })
ATTEMPT("descriptors", write_a_file_of_the_caller, { return did(write(8, "changed", 7)); })
ATTEMPT("descriptors", names_of_the_caller, { return opens("/dev/fd/7", O_RDONLY) || opens("/proc/self/fd/8", O_WRONLY); })
ATTEMPT("descriptors", a_directory_of_the_caller, { return did(openat(9, "secret", O_RDONLY)); })
ATTEMPT("descriptors", take_one_of_the_victim, { int process = syscall(SYS_pidfd_open, VICTIM, 0); return process >= 0 && did(syscall(SYS_pidfd_getfd, process, (int)target_number("OPENED"), 0)); })
ATTEMPT("descriptors", input_has_something, { char byte; return read(0, &byte, 1) > 0; })

ATTEMPT("terminals", controlling, { return opens("/dev/tty", O_RDWR); })
ATTEMPT("terminals", of_the_victim, { return opens(target("TERMINAL"), O_RDWR); })
ATTEMPT("terminals", a_new_one, { return opens("/dev/ptmx", O_RDWR) || opens("/dev/pts/ptmx", O_RDWR); })
ATTEMPT("terminals", console, { return opens("/dev/console", O_RDWR) || opens("/dev/tty0", O_RDWR) || opens("/dev/tty1", O_RDWR); })
ATTEMPT("terminals", one_is_inherited, { return isatty(0) || isatty(1) || isatty(2); })
ATTEMPT("terminals", type_into_it, { for (int i = 0; i < 3; i++) if (ioctl(i, TIOCSTI, "x") == 0 || errno != EPERM) return 1; return 0; })
ATTEMPT("terminals", take_it, { for (int i = 0; i < 3; i++) if (ioctl(i, TIOCSCTTY, 0) == 0 || errno != EPERM) return 1; return 0; })
ATTEMPT("terminals", paste_into_it, { char what = 3; for (int i = 0; i < 3; i++) if (ioctl(i, TIOCLINUX, &what) == 0 || errno != EPERM) return 1; return 0; })
ATTEMPT("terminals", a_session_of_its_own, { return did(setsid()); })
ATTEMPT("terminals", a_group_of_its_own, { return did(setpgid(0, 0)); })
ATTEMPT("terminals", group_of_a_child, { pid_t child = fork(); if (child == 0) { pause(); _exit(0); } int set = did(setpgid(child, child)); kill(child, SIGKILL); return set; })

ATTEMPT("shared memory", attach_a_segment, { return shmat(target_number("SHARED"), NULL, 0) != (void *)-1; })
ATTEMPT("shared memory", look_at_a_segment, { struct shmid_ds about; return did(shmctl(target_number("SHARED"), IPC_STAT, &about)); })
ATTEMPT("shared memory", remove_a_segment, { return did(shmctl(target_number("SHARED"), IPC_RMID, NULL)); })
ATTEMPT("shared memory", set_a_semaphore, { return did(semctl(target_number("SEMAPHORE"), 0, SETVAL, 5)); })
ATTEMPT("shared memory", use_a_semaphore, { struct sembuf up = {0, 1, IPC_NOWAIT}; return did(semop(target_number("SEMAPHORE"), &up, 1)); })
ATTEMPT("shared memory", send_to_a_queue, { struct { long type; char text[8]; } message = {1, "out"}; return did(msgsnd(target_number("QUEUE"), &message, 8, IPC_NOWAIT)); })
ATTEMPT("shared memory", remove_a_queue, { return did(msgctl(target_number("QUEUE"), IPC_RMID, NULL)); })
ATTEMPT("shared memory", open_by_name, { return did(shm_open(target("POSIX"), O_RDWR, 0)); })
ATTEMPT("shared memory", make_by_name, { return did(shm_open("/planwright-attempt", O_CREAT | O_RDWR, 0600)); })
ATTEMPT("shared memory", remove_by_name, { return did(shm_unlink(target("POSIX"))); })
ATTEMPT("shared memory", list_by_name, { DIR *list = opendir("/dev/shm"); return list && readdir(list); })
