// Starting a helper, and keeping hold of what it starts. In C because some of it takes _GNU_SOURCE, prctl is variadic, and
// Swift does not let fork be called.
#ifndef SLUICE_HELPER_PROCESS_H
#define SLUICE_HELPER_PROCESS_H
#include <stdint.h>
#include <sys/types.h>

/// Starts a program in a session of its own, with `channel` as its standard input, the other two streams on `output`, or on
/// /dev/null where that is negative, no other descriptor, and signals as from a shell. A name without a slash is looked for on
/// PATH. 0, or an error number. From any thread.
int sluice_spawn_helper(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int channel, int output);

/// Like the function above; in addition the child has `passed` as its descriptor 3, unless `passed` is negative.
int sluice_spawn_helper_passing(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int channel, int output, int passed);

/// fork(2). The caller has one thread only.
pid_t sluice_fork(void);

/// A descriptor that is readable once the process has ended (pidfd_open(2)); -1 with errno.
int sluice_open_process(pid_t process);

/// What the descendants of this process leave behind when their parents end becomes a child of this process.
int sluice_adopt_orphans(void);

/// Has this process killed when the thread that made it ends; 0 where it had ended already, in which case there is nobody to
/// work for.
int sluice_die_with_parent(pid_t parent);

typedef struct sluice_process_limits {
  uint64_t processor_seconds;
  uint64_t memory_bytes;
  uint64_t descriptors;
  /// Of one file.
  uint64_t file_bytes;
} sluice_process_limits;

/// Limits the calling process until it ends; no core is written either. Memory is left alone under a sanitizer, which reserves
/// more address space than any machine has memory. 0, or -1 with errno.
int sluice_limit_process(const sluice_process_limits *limits);

/// Up to `capacity` processes whose parent is this one, read from /proc; their number.
int sluice_list_children(pid_t *children, int capacity);

#endif
