// The functions that the test kit needs from C: glibc declares them only with _GNU_SOURCE, which the Glibc module does
// not set.
#ifndef SLUICE_CTESTKIT_H
#define SLUICE_CTESTKIT_H
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>

/// A pipe whose ends are closed in child processes; -1 with errno on failure. [any]
int sluice_test_pipe(int ends[2]);

/// Accepts a connection that no child process inherits, not even a child that starts at the same time: such a child
/// would keep the connection open after the test has closed it. -1 with errno on failure. [any]
int sluice_test_accept(int listener);

/// Makes the child close every descriptor from `first` on before it executes its program. [any]
int sluice_test_close_from(posix_spawn_file_actions_t *actions, int first);

/// Makes the child change to this folder before it executes its program. The path is copied. [any]
int sluice_test_change_folder(posix_spawn_file_actions_t *actions, const char *path);

/// Bytes that were allocated and not freed, in all arenas of the process and in separate mappings. [any]
size_t sluice_test_allocated_bytes(void);

/// Removes the handlers that Swift's runtime calls for each thrown error. [any]
void sluice_test_keep_no_backtraces(void);

/// Starts a thread as a C program does: the thread waits until the descriptor is readable, calls `turn`, and ends when
/// `turn` returns 0. The caller must join it. Returns 0, or an error number. [any]
int sluice_test_start_foreign_thread(pthread_t *thread, int descriptor, int (*turn)(void *context), void *context);

typedef enum sluice_test_coding {
  SLUICE_TEST_GZIP,
  SLUICE_TEST_DEFLATE,
  SLUICE_TEST_BARE_DEFLATE,
  SLUICE_TEST_BROTLI,
  SLUICE_TEST_ZSTD,
  /// Zstandard with a window of 16 MB.
  SLUICE_TEST_WIDE_ZSTD,
} sluice_test_coding;

/// Encodes the bytes; returns how many it wrote, or 0 when there is too little room. [any]
size_t sluice_test_encode(sluice_test_coding coding, const void *bytes, size_t count, void *out, size_t room);

#endif
