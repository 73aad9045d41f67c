#ifndef SLUICE_ATTACH_HOST_FILE_H
#define SLUICE_ATTACH_HOST_FILE_H
#include "CAttachABI.h"

/// Opens the host library, which is in the folder of this library, if it is the file that the command has checked.
///
/// @param reason gets the reason if the result is NULL
/// @return its table, which lives as long as the process; NULL otherwise
const struct sluice_attach_host *host_file_open(
    const struct sluice_attach_file *expected, const char *folder, enum sluice_attach_count *reason);

#endif
