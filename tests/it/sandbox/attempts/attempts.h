/* What all attempts share: a list that they enter themselves in, and the targets that they are aimed at. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The attempt succeeded, was refused, or can only be judged by its target. */
enum { REFUSED = 0, SUCCEEDED = 1, JUDGED_OUTSIDE = 2 };

typedef int attempt_function(void);
void enter_attempt(const char *group, const char *name, attempt_function *function, int needs_network);

#define ENTER(group, name, network, ...)                                                                     \
	static int name(void) __VA_ARGS__ static void __attribute__((constructor)) enter_##name(void)         \
	{                                                                                                      \
		enter_attempt(group, #name, name, network);                                                    \
	}
/* A thing that must be refused to a command without a network. */
#define ATTEMPT(group, name, ...) ENTER(group, name, 0, __VA_ARGS__)
/* A thing that must be refused even with a network. */
#define WITH_NETWORK(group, name, ...) ENTER(group, name, 1, __VA_ARGS__)

/* The value that the test gave to a name. */
const char *target(const char *name);
long target_number(const char *name);
/* A path below the directory outside the workspace. */
const char *outside(const char *below);
/* Whether a file can be read and holds the text; NULL stands for any text. */
int reads(const char *path, const char *text);
/* Whether a file can be opened like this. */
int opens(const char *path, int flags);
/* Whether a call did something: it succeeded. */
int did(long result);
/* Whether a call with senseless arguments got as far as having them looked at. */
int got_past_the_check(long result);
