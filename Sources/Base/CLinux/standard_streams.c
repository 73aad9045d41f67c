#define _GNU_SOURCE
#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/// The former streams get this number or a higher one, because libraries may close or reopen descriptors with
/// low numbers.
#define FIRST_NUMBER 100

/// The descriptor of the former standard error; -1 before the streams were taken.
static int kept_errors = -1;

static int is_open(int stream) { return fcntl(stream, F_GETFD) >= 0; }

static int duplicate(int stream) {
  const int descriptor = fcntl(stream, F_DUPFD_CLOEXEC, FIRST_NUMBER);
  // The process's limit of descriptors may be lower.
  return descriptor >= 0 ? descriptor : fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/// Moves standard input to another number. Returns that number, or -1 with errno.
static int take_input(void) {
  const int input = duplicate(STDIN_FILENO);
  const int nothing = input < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) return -1;
  close(nothing);
  return input;
}

/// Opens a closed stream again. Never replaces a file that another thread has opened in the meantime.
static void fill(int stream) {
  int opened = stream != STDIN_FILENO && kept_errors >= 0 ? fcntl(kept_errors, F_DUPFD, stream) : -1;
  if (opened < 0) opened = open("/dev/null", O_RDWR);
  if (opened >= 0 && opened != stream) close(opened);
}

uint32_t sluice_fill_streams(void) {
  uint32_t filled = 0;
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (is_open(stream)) continue;
    fill(stream);
    filled |= 1u << stream;
  }
  return filled;
}

int sluice_take_standard_streams(int *input, int *errors) {
  const int has_input = is_open(STDIN_FILENO), has_output = is_open(STDOUT_FILENO);
  // The kernel assigns the lowest free number, so the streams are filled in ascending order. Standard input is opened for
  // writing only, so that reading from it fails with EBADF.
  if (!has_input && open("/dev/null", O_WRONLY) != STDIN_FILENO) return -1;
  if (!has_output && open("/dev/null", O_WRONLY) != STDOUT_FILENO) return -1;
  if (!is_open(STDERR_FILENO) && open("/dev/null", O_WRONLY) != STDERR_FILENO) return -1;
  *input = has_input ? take_input() : STDIN_FILENO;
  const int output = has_output ? duplicate(STDOUT_FILENO) : -1;
  *errors = duplicate(STDERR_FILENO);
  if (*input < 0 || *errors < 0 || (has_output && output < 0)) return -1;
  kept_errors = *errors;
  // Printed text appears when its line is complete, not when the process ends.
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  if (!has_output) errno = EBADF;
  return output;
}
