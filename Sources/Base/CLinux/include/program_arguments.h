// The arguments of the program. In C because Swift's `CommandLine` reads them from /proc, which may not be mounted.
#ifndef SLUICE_PROGRAM_ARGUMENTS_H
#define SLUICE_PROGRAM_ARGUMENTS_H

/// The argument with this index, which the program's name begins; NULL behind the last one. [any]
const char *_Nullable sluice_program_argument(int index);

#endif
