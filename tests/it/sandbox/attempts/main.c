/* Tries to get out of the sandbox, one named attempt after the other, each in a process of its own. Prints a line for
 * each: group, name, outcome. Started as `attempts victim` it is the process that others are aimed at. */
#include "attempts.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <termios.h>

static struct attempt {
	const char *group, *name;
	attempt_function *function;
	int needs_network;
} attempts[400];
static int attempt_count;
static char targets[16384];

void enter_attempt(const char *group, const char *name, attempt_function *function, int needs_network)
{
	attempts[attempt_count++] = (struct attempt){group, name, function, needs_network};
}

const char *target(const char *name)
{
	static char value[1024];
	size_t length = strlen(name);
	for (const char *line = targets; *line; line = strchr(line, '\n') + 1) {
		if (strncmp(line, name, length) == 0 && line[length] == '=') {
			sscanf(line + length + 1, "%1023[^\n]", value);
			return value;
		}
		if (!strchr(line, '\n'))
			break;
	}
	fprintf(stderr, "no target %s\n", name);
	_exit(99);
}

long target_number(const char *name) { return atol(target(name)); }

const char *outside(const char *below)
{
	static char path[4][2048];
	static int next;
	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", target("OUTSIDE"), below);
	return path[next];
}

int reads(const char *path, const char *text)
{
	static char buffer[65536];
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return 0;
	ssize_t length = read(file, buffer, sizeof buffer);
	close(file);
	return length > 0 && (!text || memmem(buffer, length, text, strlen(text)));
}

int opens(const char *path, int flags)
{
	int file = open(path, flags | O_NOCTTY | O_NONBLOCK, 0600);
	if (file >= 0)
		close(file);
	return file >= 0;
}

int did(long result) { return result >= 0; }

int got_past_the_check(long result)
{
	return result >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS && errno != EROFS);
}

static volatile sig_atomic_t signals;
static void count_signal(int number)
{
	(void)number;
	signals++;
}

static char secret_memory[64] = "memory-of-the-victim";

/* Has everything that an attempt may be aimed at, says where, and at the end says what became of it. */
static int be_victim(void)
{
	int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGURG, SIGIO, SIGWINCH, SIGCONT};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		signal(numbers[i], count_signal);
	int shared = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	char *memory = shmat(shared, NULL, 0);
	strcpy(memory, "shared-of-the-victim");
	int semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600), queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	char name[64];
	snprintf(name, sizeof name, "/planwright-victim-%d", getpid());
	int posix = shm_open(name, O_CREAT | O_RDWR, 0600);
	if (ftruncate(posix, 4096) != 0)
		return 1;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	grantpt(terminal);
	unlockpt(terminal);
	char path[1024];
	snprintf(path, sizeof path, "%s/opened", getenv("OUTSIDE"));
	int opened = open(path, O_CREAT | O_RDWR, 0600);
	printf("VICTIM=%d\nMEMORY=%ld\nSHARED=%d\nSEMAPHORE=%d\nQUEUE=%d\nPOSIX=%s\nTERMINAL=%s\nOPENED=%d\nEND=1\n", getpid(),
	       (long)secret_memory, shared, semaphore, queue, name, ptsname(terminal), opened);
	fflush(stdout);
	struct rlimit before[RLIM_NLIMITS], after;
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &before[i]);
	cpu_set_t processors, processors_after;
	sched_getaffinity(0, sizeof processors, &processors);
	int nice_before = getpriority(PRIO_PROCESS, 0), policy = sched_getscheduler(0);
	char byte;
	while (read(0, &byte, 1) != 0)
		;
	int limits = 0;
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		getrlimit(i, &after);
		limits += memcmp(&before[i], &after, sizeof after) != 0;
	}
	sched_getaffinity(0, sizeof processors_after, &processors_after);
	printf("signals=%d limits=%d nice=%d policy=%d affinity=%d memory=%d shared=%d semaphore=%d\n", (int)signals, limits,
	       getpriority(PRIO_PROCESS, 0) != nice_before, sched_getscheduler(0) != policy,
	       !CPU_EQUAL(&processors, &processors_after), strcmp(secret_memory, "memory-of-the-victim") != 0,
	       strcmp(memory, "shared-of-the-victim") != 0, semctl(semaphore, 0, GETVAL) != 0);
	shmctl(shared, IPC_RMID, NULL);
	semctl(semaphore, 0, IPC_RMID);
	msgctl(queue, IPC_RMID, NULL);
	shm_unlink(name);
	return 0;
}

static const char *run_attempt(struct attempt *attempt)
{
	static char outcome[64];
	pid_t child = fork();
	if (child == 0) {
		alarm(10);
		errno = 0;
		_exit(attempt->function());
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return "not tried";
	if (WIFSIGNALED(status)) {
		snprintf(outcome, sizeof outcome, "%s", WTERMSIG(status) == SIGSYS ? "refused" : "killed");
		return outcome;
	}
	switch (WEXITSTATUS(status)) {
	case REFUSED: return "refused";
	case SUCCEEDED: return "SUCCEEDED";
	case JUDGED_OUTSIDE: return "judged";
	default: return "not tried";
	}
}

int main(int count, char **arguments)
{
	if (count > 1 && strcmp(arguments[1], "victim") == 0)
		return be_victim();
	int network = count > 2 && strcmp(arguments[2], "network") == 0;
	int only = count > 3 && strcmp(arguments[2], "only") == 0;
	int file = open(count > 1 ? arguments[1] : "targets", O_RDONLY);
	if (file < 0 || read(file, targets, sizeof targets - 1) <= 0)
		return 1;
	close(file);
	signal(SIGURG, SIG_IGN);
	for (int i = 0; i < attempt_count; i++) {
		int named = 0;
		for (int argument = 3; only && argument < count; argument++)
			named |= strcmp(arguments[argument], attempts[i].name) == 0;
		if ((network && !attempts[i].needs_network) || (only && !named))
			continue;
		printf("%s|%s|%s\n", attempts[i].group, attempts[i].name, run_attempt(&attempts[i]));
		fflush(stdout);
	}
	return 0;
}
