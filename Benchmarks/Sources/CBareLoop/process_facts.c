#define _GNU_SOURCE
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bare_loop.h"

bool bench_pin_thread(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

double bench_cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double bench_process_cpu_seconds(int process) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool bench_wait(int process, double *processor_seconds, long *peak_kilobytes) {
  int status;
  struct rusage usage;
  if (wait4(process, &status, 0, &usage) != process) return false;
  *processor_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  *peak_kilobytes = usage.ru_maxrss;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

uint64_t bench_heap_bytes(void) {
  struct mallinfo2 facts = mallinfo2();
  return facts.uordblks + facts.hblkhd;
}

uint64_t bench_resident_bytes(void) {
  unsigned long all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
  fclose(file);
  return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t bench_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

long bench_peak_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}
