// Actions of signals that programs inherit. In C because a union holds the handler.
#ifndef SLUICE_SIGNAL_ACTION_H
#define SLUICE_SIGNAL_ACTION_H

/// Makes the process survive a signal whose default action ends it. Programs that the process starts get the default
/// action: they would inherit an ignored signal, but not a handler. So a signal that the process has inherited as
/// ignored gets the handler, too.
void sluice_survive_signal(int signal);

/// Gives SIGCHLD its default action, and returns whether it was ignored. If it is ignored, as a program may have
/// inherited it, the kernel discards the statuses of children, and waitpid(2) fails.
int sluice_keep_child_statuses(void);

#endif
