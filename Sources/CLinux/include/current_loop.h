// Which event loop runs on this thread. In C because Swift has no thread-local variables.
#ifndef SLUICE_CURRENT_LOOP_H
#define SLUICE_CURRENT_LOOP_H

/// The loop whose thread calls, or NULL. Compared, and turned back into the object only by who has set it.
extern _Thread_local const void *_Nullable sluice_thread_loop;

static inline const void *_Nullable sluice_current_loop(void) { return sluice_thread_loop; }

static inline void sluice_set_current_loop(const void *_Nullable loop) { sluice_thread_loop = loop; }

#endif
