// Packets between two processes that can carry a descriptor (SCM_RIGHTS, unix(7)). Written in C because cmsg(3) consists of
// macros.
#ifndef SLUICE_DESCRIPTOR_PACKET_H
#define SLUICE_DESCRIPTOR_PACKET_H
#include <stddef.h>
#include <sys/types.h>

/// Creates a pair of connected sockets that preserve packet boundaries, both close-on-exec. Returns 0, or -1 with errno.
int sluice_packet_pair(int ends[2]);

/// Sends a packet, together with a duplicate of `descriptor` unless that is negative. Never waits and raises no signal.
/// Returns 0 or an error number; EAGAIN if the other end does not read fast enough.
int sluice_send_packet(int socket, const void *bytes, size_t size, int descriptor);

/// Waits for a packet and returns its size, 0 when the other end is closed, or -1 with errno. Sets `descriptor` to the
/// descriptor in the packet, which is close-on-exec and owned by the caller. If the packet has none, sets it to -1.
ssize_t sluice_receive_packet(int socket, void *bytes, size_t capacity, int *descriptor);

#endif
