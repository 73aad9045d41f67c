#define _GNU_SOURCE
#include <sys/socket.h>

#include "CTestKit.h"

int sluice_test_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}
