#define _GNU_SOURCE
#include "exchange_sockets.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/// Sockets of exchanges get this number or higher numbers. So the program's own descriptors get the numbers that they
/// would get without an exchange.
enum { FIRST_DESCRIPTOR = 512 };

static struct entry {
  int descriptor;
  dev_t device;
  ino_t inode;
  bool is_open;
} sockets[64];

static int move_up(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
  // This fails if the process's limit of descriptors is lower.
  if (moved < 0) return descriptor;
  close(descriptor);
  return moved;
}

static bool is_own(const struct entry *entry) {
  struct stat status;
  return fstat(entry->descriptor, &status) == 0 && status.st_dev == entry->device && status.st_ino == entry->inode;
}

/// An entry that is free, or whose descriptor the program has closed; NULL if all are in use.
static struct entry *vacant_entry(void) {
  const size_t count = sizeof sockets / sizeof *sockets;
  for (size_t index = 0; index < count; index++)
    if (!sockets[index].is_open) return &sockets[index];
  for (size_t index = 0; index < count; index++)
    if (!is_own(&sockets[index])) return &sockets[index];
  return NULL;
}

/// @return the descriptor, or -1 after closing it
static int note(int descriptor) {
  struct stat status;
  struct entry *entry = descriptor < 0 ? NULL : vacant_entry();
  if (entry && fstat(descriptor, &status) == 0) {
    *entry = (struct entry){descriptor, status.st_dev, status.st_ino, true};
    return descriptor;
  }
  if (descriptor >= 0) close(descriptor);
  return -1;
}

/// Closes the socket, unless the program has closed it; its number may then belong to another file.
static void close_entry(struct entry *entry) {
  if (is_own(entry)) close(entry->descriptor);
  entry->is_open = false;
}

static struct entry *entry_of(int descriptor) {
  for (size_t index = 0; index < sizeof sockets / sizeof *sockets; index++)
    if (sockets[index].is_open && sockets[index].descriptor == descriptor) return &sockets[index];
  return NULL;
}

// MARK: For libcurl

static curl_socket_t open_socket(void *unused, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)unused, (void)purpose;
  const int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  return made < 0 ? CURL_SOCKET_BAD : note(move_up(made));
}

static int close_socket(void *unused, curl_socket_t descriptor) {
  (void)unused;
  struct entry *entry = entry_of(descriptor);
  if (entry) close_entry(entry);
  return 0;
}

void exchange_sockets_set(CURL *easy, const struct libcurl *curl) {
  curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl->easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
}

// MARK: The mark

int exchange_sockets_open_mark(void) {
  // The mark must have a low number, like the descriptors that libcurl opens by itself, so it is not moved up.
  return note(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

bool exchange_sockets_has_mark(int mark) {
  const struct entry *entry = entry_of(mark);
  return entry && is_own(entry);
}

void exchange_sockets_close_mark(int mark) {
  struct entry *entry = entry_of(mark);
  if (entry) close_entry(entry);
}

void exchange_sockets_close(void) {
  for (size_t index = 0; index < sizeof sockets / sizeof *sockets; index++)
    if (sockets[index].is_open) close_entry(&sockets[index]);
}
