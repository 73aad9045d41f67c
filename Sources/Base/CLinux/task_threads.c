#define _GNU_SOURCE
#include "task_threads.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

// What Swift's runtime offers to executors. The symbols are weak, since not every program links Swift's concurrency.
#define SWIFT_CALL __attribute__((swiftcall))

/// A job of the runtime. The executor may use the two pointers after the object while it keeps the job.
struct job {
  void *object[2];
  struct job *next;
  void *unused;
};

extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(
    struct job *job, SWIFT_CALL void (*original)(struct job *)) __attribute__((weak));
/// The two pointers name the executor on which the job runs; NULL is the global one.
extern SWIFT_CALL void swift_job_run(struct job *job, void *executor, void *kind) __attribute__((weak));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_job = PTHREAD_COND_INITIALIZER;
static struct job *first;
static struct job **end = &first;

static SWIFT_CALL void enqueue(struct job *job, SWIFT_CALL void (*original)(struct job *)) {
  (void)original;
  job->next = NULL;
  pthread_mutex_lock(&lock);
  *end = job;
  end = &job->next;
  pthread_cond_signal(&has_job);
  pthread_mutex_unlock(&lock);
}

static void *run(void *unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!first) pthread_cond_wait(&has_job, &lock);
    struct job *job = first;
    first = job->next;
    if (!first) end = &first;
    pthread_mutex_unlock(&lock);
    swift_job_run(job, NULL, NULL);
  }
}

bool sluice_run_tasks_on_threads(int count) {
  if (!&swift_task_enqueueGlobal_hook || !swift_job_run) return false;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int started = 0;
  pthread_t thread;
  while (started < count && pthread_create(&thread, NULL, run, NULL) == 0) {
    pthread_detach(thread);
    started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started > 0) swift_task_enqueueGlobal_hook = enqueue;
  return started > 0;
}
