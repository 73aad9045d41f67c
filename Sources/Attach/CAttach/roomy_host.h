#ifndef SLUICE_ATTACH_ROOMY_HOST_H
#define SLUICE_ATTACH_ROOMY_HOST_H
#include "CAttachABI.h"

/// The functions of the host, each of which runs on the stack that its thread has reserved. Call it once.
const struct sluice_attach_host *roomy_host(const struct sluice_attach_host *host);

#endif
