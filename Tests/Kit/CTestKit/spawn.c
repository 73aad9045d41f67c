#define _GNU_SOURCE
#include "CTestKit.h"

#include <fcntl.h>
#include <unistd.h>

int sluice_test_pipe(int ends[2]) {
  return pipe2(ends, O_CLOEXEC);
}

int sluice_test_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int sluice_test_change_folder(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}
