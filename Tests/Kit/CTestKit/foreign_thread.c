#include <poll.h>
#include <stdlib.h>

#include "CTestKit.h"

typedef struct foreign_thread {
  int descriptor;
  int (*turn)(void *context);
  void *context;
} foreign_thread;

static void *run(void *argument) {
  foreign_thread self = *(foreign_thread *)argument;
  free(argument);
  struct pollfd waited = {.fd = self.descriptor, .events = POLLIN};
  do {
    // Waits without a limit, so that a test hangs if the descriptor does not become readable.
    poll(&waited, 1, -1);
  } while (self.turn(self.context));
  return NULL;
}

int sluice_test_start_foreign_thread(pthread_t *thread, int descriptor, int (*turn)(void *context), void *context) {
  foreign_thread *self = malloc(sizeof *self);
  if (!self) return -1;
  *self = (foreign_thread){descriptor, turn, context};
  int status = pthread_create(thread, NULL, run, self);
  if (status != 0) free(self);
  return status;
}
