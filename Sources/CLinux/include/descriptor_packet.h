// Packets between two processes that can carry a descriptor (SCM_RIGHTS, unix(7)). In C because the macros of cmsg(3) are.
#ifndef SLUICE_DESCRIPTOR_PACKET_H
#define SLUICE_DESCRIPTOR_PACKET_H
#include <stddef.h>
#include <sys/types.h>

/// A pair of connected sockets that keep the bounds of packets, both close-on-exec. 0, or -1 with errno.
int sluice_packet_pair(int ends[2]);

/// Sends a packet, with a duplicate of `descriptor` unless that is negative. Never waits and raises no signal. 0, or an error
/// number; EAGAIN where the other end does not keep up.
int sluice_send_packet(int socket, const void *bytes, size_t size, int descriptor);

/// Waits for a packet and gives its size; 0 when the other end is gone, -1 with errno. `descriptor` is -1 where it carries none,
/// close-on-exec otherwise, and the caller's.
ssize_t sluice_receive_packet(int socket, void *bytes, size_t capacity, int *descriptor);

#endif
