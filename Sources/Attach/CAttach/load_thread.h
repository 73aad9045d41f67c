#ifndef SLUICE_LOAD_THREAD_H
#define SLUICE_LOAD_THREAD_H

/// Calls a function that loads libraries, and waits for it: on the calling thread if that is the main thread, otherwise
/// on a new thread.
///
/// Libdispatch treats the thread that loads it as the main thread of the process. When this thread ends, libdispatch
/// opens a descriptor for a moment, and ends the process if no descriptor is free. If the loader is busy for a second,
/// the calling thread itself may hold the loader's lock. Then the calling thread calls the function itself.
void load_thread_run(void (*load)(void));

#endif
