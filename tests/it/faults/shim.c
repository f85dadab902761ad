/* A layer between a program and the kernel, loaded before the C library (LD_PRELOAD), that makes writes under one
 * directory fail. Nothing in the program knows of it.
 *
 * FAULT_DIR    only files under it count
 * FAULT_AT     which operation fails, from 1; 0 fails none
 * FAULT_KIND   eio, enospc, erofs: the operation fails; short: half of a write is done and said so;
 *              after: the operation is done and then said to have failed (EIO)
 * FAULT_LASTS  set: every operation after it fails as well
 * FAULT_COUNT  a file that gets the number of operations of this process at its end; its children leave it alone
 * FAULT_CLOCK  after so many readings, the clock of the day is an hour behind
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static atomic_long counted, readings;

static int lies_under(const char *path) {
    const char *dir = getenv("FAULT_DIR");
    return dir && path && strncmp(path, dir, strlen(dir)) == 0;
}

static int is_ours(int fd) {
    char name[64], path[4096];
    if (!getenv("FAULT_DIR"))
        return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0)
        return 0;
    path[length] = 0;
    return lies_under(path);
}

/* The fault for this operation: 0 for none, an error number, or one of these. */
enum { SHORT = -1, AFTER = -2 };

static int fault(void) {
    long number = atomic_fetch_add(&counted, 1) + 1;
    const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    long wanted = at ? atol(at) : 0;
    if (!kind || wanted <= 0 || number < wanted || (number > wanted && !getenv("FAULT_LASTS")))
        return 0;
    if (!strcmp(kind, "short"))
        return SHORT;
    if (!strcmp(kind, "after"))
        return AFTER;
    if (!strcmp(kind, "enospc"))
        return ENOSPC;
    return !strcmp(kind, "erofs") ? EROFS : EIO;
}

static char count_path[4096];
static pid_t counting;

/* Processes that it starts may end after it: they must not write their own number over this one's. */
__attribute__((constructor)) static void take_count_path(void) {
    const char *path = getenv("FAULT_COUNT");
    if (!path)
        return;
    snprintf(count_path, sizeof count_path, "%s", path);
    counting = getpid();
    unsetenv("FAULT_COUNT");
}

__attribute__((destructor)) static void say_count(void) {
    FILE *file = counting == getpid() ? fopen(count_path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", atomic_load(&counted));
        fclose(file);
    }
}

static int failed(int error) {
    errno = error;
    return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITES(name, ...)                                                                                            \
    int now = is_ours(fd) ? fault() : 0;                                                                             \
    if (now > 0)                                                                                                     \
        return failed(now);                                                                                          \
    if (now == SHORT && length > 1)                                                                                  \
        length /= 2;                                                                                                 \
    ssize_t done = REAL(name)(__VA_ARGS__);                                                                          \
    return now == AFTER ? failed(EIO) : done;

ssize_t write(int fd, const void *bytes, size_t length) { WRITES(write, fd, bytes, length) }

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { WRITES(pwrite, fd, bytes, length, at) }

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) { WRITES(pwrite64, fd, bytes, length, at) }

#define CHANGES(name, ours, ...)                                                                                     \
    int now = (ours) ? fault() : 0;                                                                                  \
    if (now > 0)                                                                                                     \
        return failed(now);                                                                                          \
    int done = REAL(name)(__VA_ARGS__);                                                                              \
    return now == AFTER ? failed(EIO) : done;

int ftruncate(int fd, off_t length) { CHANGES(ftruncate, is_ours(fd), fd, length) }

int ftruncate64(int fd, off64_t length) { CHANGES(ftruncate64, is_ours(fd), fd, length) }

int fsync(int fd) { CHANGES(fsync, is_ours(fd), fd) }

int fdatasync(int fd) { CHANGES(fdatasync, is_ours(fd), fd) }

int unlink(const char *path) { CHANGES(unlink, lies_under(path), path) }

int mkdir(const char *path, mode_t mode) { CHANGES(mkdir, lies_under(path), path, mode) }

#define OPENS(name)                                                                                                  \
    mode_t mode = 0;                                                                                                 \
    if (flags & O_CREAT) {                                                                                           \
        va_list more;                                                                                                \
        va_start(more, flags);                                                                                       \
        mode = va_arg(more, int);                                                                                    \
        va_end(more);                                                                                                \
    }                                                                                                                \
    int now = (flags & (O_WRONLY | O_RDWR)) && lies_under(path) ? fault() : 0;                                       \
    if (now > 0)                                                                                                     \
        return failed(now);                                                                                          \
    return REAL(name)(path, flags, mode);

int open(const char *path, int flags, ...) { OPENS(open) }

int open64(const char *path, int flags, ...) { OPENS(open64) }

int clock_gettime(clockid_t clock, struct timespec *time) {
    int done = REAL(clock_gettime)(clock, time);
    const char *after = getenv("FAULT_CLOCK");
    if (after && done == 0 && clock == CLOCK_REALTIME && atomic_fetch_add(&readings, 1) >= atol(after))
        time->tv_sec -= 3600;
    return done;
}
