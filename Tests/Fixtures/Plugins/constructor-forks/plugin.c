// Starts a child process while it is loaded. The child continues to run. With DAEMON=1 the child becomes a daemon: it
// leaves its session and its parent. With HANG=1 the constructor also hangs. The child writes its process id into the
// file NUMBER_FILE.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fixture.h"

#ifndef DAEMON
#define DAEMON 0
#endif

#ifndef HANG
#define HANG 0
#endif

// A descriptor that is readable when the child has written its process id.
#ifndef NUMBER_FILE
#define NUMBER_FILE "/dev/null"
#endif

static int said[2];

static void go_on(void) {
  FILE *file = fopen(NUMBER_FILE, "w");
  if (file) {
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
  }
  if (write(said[1], "", 1) != 1) _exit(1);
  for (;;) pause();
}

__attribute__((constructor)) static void start(void) {
  if (pipe(said) != 0) return;
  if (fork() == 0) {
    if (DAEMON) {
      setsid();
      if (fork() != 0) _exit(0);
    }
    go_on();
  }
  char byte;
  if (read(said[0], &byte, 1) != 1) return;
  while (HANG) pause();
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
