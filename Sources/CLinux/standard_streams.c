#define _GNU_SOURCE
#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/// The former standard output gets this number or a higher one, because libraries may close or reopen descriptors with
/// low numbers.
#define FIRST_NUMBER 100

static int is_open(int stream) { return fcntl(stream, F_GETFD) >= 0; }

static int duplicate_output(void) {
  const int descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, FIRST_NUMBER);
  // The process's limit of descriptors may be lower.
  return descriptor >= 0 ? descriptor : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

int sluice_take_standard_output(void) {
  const int has_output = is_open(STDOUT_FILENO);
  // The kernel assigns the lowest free number, so the streams are filled in ascending order. Standard input is opened for
  // writing only, so that reading from it fails with EBADF.
  if (!is_open(STDIN_FILENO) && open("/dev/null", O_WRONLY) != STDIN_FILENO) return -1;
  if (!has_output && open("/dev/null", O_WRONLY) != STDOUT_FILENO) return -1;
  if (!is_open(STDERR_FILENO) && open("/dev/null", O_WRONLY) != STDERR_FILENO) return -1;
  const int output = has_output ? duplicate_output() : -1;
  if (has_output && output < 0) return -1;
  // Printed text appears when its line is complete, not when the process ends.
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  if (!has_output) errno = EBADF;
  return output;
}
