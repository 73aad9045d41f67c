#ifndef SLUICE_ATTACH_HOST_FILE_H
#define SLUICE_ATTACH_HOST_FILE_H
#include "CAttachABI.h"

/// Opens the host library in the folder of this library. Fails unless this is the file that the command has checked.
///
/// @param program what the host may call
/// @param reason gets the reason of a failure
/// @return the table of the host library, which lives as long as the process; NULL on failure
const struct sluice_attach_host *host_file_open(
    const struct sluice_attach_file *expected, const struct sluice_attach_program *program, enum sluice_attach_count *reason);

#endif
