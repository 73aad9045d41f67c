// Connects a program to the command that started it, and to the pipeline.
#ifndef SLUICE_ATTACH_SESSION_H
#define SLUICE_ATTACH_SESSION_H
#include "CAttachABI.h"

/// Whether a command asked for the pipeline in this process. Set by `session_begin`.
extern bool session_is_on;

/// Reads what the command asks for. Called by the constructor of this library, and by a call of libcurl before it: the
/// constructors of the program's libraries run first. Further calls are cheap.
void session_begin(void);

/// Maps the page of the command as soon as the program uses libcurl: later the program may have no free descriptor or
/// no permission. Further calls are cheap.
void session_prepare(void);

/// Whether a transfer without the pipeline must fail.
bool session_fails_without_pipeline(void);

/// Adds 1 to a count on the page of the command, if the page is mapped. From any thread.
void session_count(enum sluice_attach_count count);

/// Returns the host library with a pipeline. The first call opens the library. The caller must call `session_leave`
/// afterwards, and must not fork() in between. Returns NULL if the transfer has no pipeline; `reason` then says why,
/// and `session_leave` must not be called.
const struct sluice_attach_host *session_enter(enum sluice_attach_count *reason);

/// Like `session_enter`, for a transfer that has begun: no newer plan is taken. NULL if this process has no pipeline
/// any more, for example after a fork().
const struct sluice_attach_host *session_enter_again(void);

void session_leave(void);

/// Whether plugins of the plan may make exchanges with the program's libcurl.
bool session_calls_out(void);

/// The number of fork()s that led to this process. A transfer must continue in the process in which it began.
unsigned session_generation(void);

#endif
