// The reference that the engine is compared with: one libcurl multi handle on epoll, in plain C. It keeps its epoll
// registrations between requests.
#ifndef SLUICE_BARE_LOOP_H
#define SLUICE_BARE_LOOP_H
#include <stdbool.h>
#include <stdint.h>

typedef struct bare_loop bare_loop;

typedef struct bare_loop_options {
  const char *_Nonnull url;
  // PEM file of the authority to trust, or NULL.
  const char *_Nullable ca;
  // Whether to use HTTP/2 over TLS instead of HTTP/1.1.
  bool http2;
  int connections;
  // Header lines sent with each request, `Name: value`.
  const char *_Nonnull const *_Nonnull headers;
  int header_count;
} bare_loop_options;

// Returns NULL if a resource is not available. Copies everything that the options point to.
bare_loop *_Nullable bare_loop_create(const bare_loop_options *_Nonnull options);

// Sends this many requests on the calling thread, one at a time on each connection. Returns how many failed.
long bare_loop_run(bare_loop *_Nonnull loop, long requests);

void bare_loop_destroy(bare_loop *_Nullable loop);

// Confines the calling thread to one processor.
bool bench_pin_thread(int processor);

// Processor time of this process so far, user and system.
double bench_cpu_seconds(void);

// The largest resident memory of this process so far.
long bench_peak_megabytes(void);

// The number of allocations of the calling thread so far. The program replaces malloc, calloc, realloc and their
// aligned variants with functions that count.
uint64_t bench_thread_allocations(void);

// The number of allocations of all threads so far.
uint64_t bench_allocations(void);

// Processor time of another process so far, user and system, or -1 if that process does not exist.
double bench_process_cpu_seconds(int process);

// Waits for the end of a child process. Stores its processor time, user and system, and its largest resident memory.
// Returns false unless the child exited with status 0.
bool bench_wait(int process, double *_Nonnull processor_seconds, long *_Nonnull peak_kilobytes);

// Bytes that are allocated now, without the free memory that the allocator keeps.
uint64_t bench_heap_bytes(void);

// Bytes of this process that are in memory now.
uint64_t bench_resident_bytes(void);

// The time of the monotonic clock.
uint64_t bench_nanoseconds(void);

#endif
