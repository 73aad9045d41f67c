// Starts helper processes, ends them with their parent, and lists their children. In C because some functions need
// _GNU_SOURCE, prctl is variadic, and Swift cannot call fork.
#ifndef SLUICE_HELPER_PROCESS_H
#define SLUICE_HELPER_PROCESS_H
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/// Starts a program in a new session. Its standard input is `channel`; its other two streams are `output`, or /dev/null
/// if that is negative. It gets no other descriptor, and the signal settings that a shell would give it. A name without
/// a slash is looked up on PATH. Returns 0 or an error number. From any thread.
int sluice_spawn_helper(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int channel, int output);

/// Like the function above; in addition the child has `passed` as its descriptor 3, unless `passed` is negative.
int sluice_spawn_helper_passing(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int channel, int output, int passed);

/// Starts the program at `path` with SIGCHLD ignored, which posix_spawn(3) cannot do. The program has the descriptors
/// `input` and `output` as its streams, and blocks the signals of `blocked`. A negative descriptor leaves the stream
/// closed. Returns 0 or an error number. From any thread.
int sluice_start_ignoring_children(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int input, int output,
    const sigset_t *blocked);

/// fork(2). The calling process must have only one thread.
pid_t sluice_fork(void);

/// Returns a descriptor that is readable once the process has ended (pidfd_open(2)), or -1 with errno.
int sluice_open_process(pid_t process);

/// Makes this process the parent of all its descendants whose own parents end.
int sluice_adopt_orphans(void);

/// Tells the kernel to kill this process when the thread that started it ends. Returns 0 if `parent` has already ended:
/// the kernel would then not kill this process.
int sluice_die_with_parent(pid_t parent);

typedef struct sluice_process_limits {
  uint64_t processor_seconds;
  uint64_t memory_bytes;
  uint64_t descriptors;
  /// The size of one file.
  uint64_t file_bytes;
} sluice_process_limits;

/// Limits the calling process until it ends, and disables core dumps. If the process has the runtime of a
/// sanitizer, memory is not limited, because the sanitizer reserves more address space than any machine has memory. Returns 0, or -1 with errno.
int sluice_limit_process(const sluice_process_limits *limits);

/// Reads from /proc up to `capacity` processes whose parent is this process. Returns their number.
int sluice_list_children(pid_t *children, int capacity);

#endif
