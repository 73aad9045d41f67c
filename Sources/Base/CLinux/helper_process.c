#define _GNU_SOURCE
#include "helper_process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int sluice_spawn_helper(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int channel, int output) {
  return sluice_spawn_helper_passing(process, path, arguments, environment, channel, output, -1);
}

int sluice_spawn_helper_passing(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int channel, int output, int passed) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t all, none;
  int status = posix_spawn_file_actions_init(&actions);
  if (status != 0) return status;
  status = posix_spawnattr_init(&attributes);
  if (status != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return status;
  }
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  status = posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
  for (int stream = STDOUT_FILENO; status == 0 && stream <= STDERR_FILENO; stream++) {
    status = output < 0 ? posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
                        : posix_spawn_file_actions_adddup2(&actions, output, stream);
  }
  // Descriptor 3 is set last, because `channel` or `output` may have this number.
  if (status == 0 && passed >= 0) status = posix_spawn_file_actions_adddup2(&actions, passed, 3);
  if (status == 0) status = posix_spawn_file_actions_addclosefrom_np(&actions, passed < 0 ? 3 : 4);
  if (status == 0) status = posix_spawnp(process, path, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return status;
}

static void set_stream(int descriptor, int stream) {
  if (descriptor < 0) close(stream);
  else dup2(descriptor, stream);
}

int sluice_start_ignoring_children(
    pid_t *process, const char *path, char *const *arguments, char *const *environment, int input, int output,
    const sigset_t *blocked) {
  volatile int failure = 0;
  sigset_t all, before;
  sigfillset(&all);
  // The child shares the memory of this process until it runs the program: no handler may run in it.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = vfork();
  if (child == 0) {
    signal(SIGCHLD, SIG_IGN);
    set_stream(input, STDIN_FILENO);
    set_stream(output, STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, blocked, NULL);
    execve(path, arguments, environment);
    failure = errno;
    _exit(127);
  }
  const int number = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (child < 0) return number;
  if (failure != 0) waitpid(child, NULL, 0);
  *process = child;
  return failure;
}

pid_t sluice_fork(void) { return fork(); }

int sluice_open_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int sluice_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int sluice_die_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return getppid() == parent;
}

/// The hard limit is `grace` above the soft limit.
static int limit(__rlimit_resource_t resource, uint64_t value, uint64_t grace) {
  struct rlimit before;
  if (getrlimit(resource, &before) != 0) return -1;
  struct rlimit after = {
      .rlim_cur = value < before.rlim_max ? (rlim_t)value : before.rlim_max,
      .rlim_max = value + grace < before.rlim_max ? (rlim_t)(value + grace) : before.rlim_max};
  return setrlimit(resource, &after);
}

int sluice_limit_process(const sluice_process_limits *limits) {
  // At the soft limit of processor time, the kernel sends SIGXCPU, which shows the reason. At the hard limit it sends
  // SIGKILL, which does not show the reason.
  int failed = limit(RLIMIT_CORE, 0, 0) | limit(RLIMIT_CPU, limits->processor_seconds, 1) |
               limit(RLIMIT_NOFILE, limits->descriptors, 0) | limit(RLIMIT_FSIZE, limits->file_bytes, 0);
  // A preloaded runtime counts too.
  const int is_sanitized = dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init");
  if (!is_sanitized) failed |= limit(RLIMIT_AS, limits->memory_bytes, 0);
  return failed ? -1 : 0;
}

/// The parent in /proc/PID/stat: the second field after the name. The name may contain any character, even brackets.
static pid_t parent_of(const char *process) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%.20s/stat", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t size = read(file, line, sizeof line - 1);
  close(file);
  if (size <= 0) return -1;
  line[size] = 0;
  const char *name_end = strrchr(line, ')');
  int parent = -1;
  if (!name_end || sscanf(name_end + 1, " %*c %d", &parent) != 1) return -1;
  return parent;
}

int sluice_list_children(pid_t *children, int capacity) {
  DIR *processes = opendir("/proc");
  if (!processes) return 0;
  int count = 0;
  for (struct dirent *entry; count < capacity && (entry = readdir(processes));) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (parent_of(entry->d_name) == getpid()) children[count++] = (pid_t)atoi(entry->d_name);
  }
  closedir(processes);
  return count;
}
