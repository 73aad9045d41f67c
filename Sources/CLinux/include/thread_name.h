// The name of a thread. In C because the Glibc module leaves out what needs _GNU_SOURCE, and prctl is variadic.
#ifndef SLUICE_THREAD_NAME_H
#define SLUICE_THREAD_NAME_H
#include <sys/prctl.h>

/// Names the calling thread; the kernel keeps 15 bytes.
static inline void sluice_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

#endif
