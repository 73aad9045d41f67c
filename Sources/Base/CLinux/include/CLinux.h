// Linux interfaces that the Glibc module leaves out.
#ifndef SLUICE_CLINUX_H
#define SLUICE_CLINUX_H
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>
#include "call_context.h"
#include "call_record.h"
#include "crash_handler.h"
#include "current_loop.h"
#include "descriptor_packet.h"
#include "helper_process.h"
#include "mapped_library.h"
#include "process_end.h"
#include "process_watch.h"
#include "program_arguments.h"
#include "sealed_file.h"
#include "signal_action.h"
#include "socket_peer.h"
#include "socket_type.h"
#include "standard_streams.h"
#include "task_threads.h"
#include "unnamed_file.h"
#endif
