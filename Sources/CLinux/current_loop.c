#include "current_loop.h"

_Thread_local const void *_Nullable sluice_thread_loop;
