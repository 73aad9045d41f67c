#ifndef SLUICE_ATTACH_FACTS_H
#define SLUICE_ATTACH_FACTS_H
#include "CAttachABI.h"
#include "handle.h"

/// Reads what libcurl knows about the transfer now. It adds its times up over the hops.
void facts_read(struct sluice_attach_facts *facts, const struct handle *handle);

/// The number in the ABI for a version that libcurl names; 0 if it has none.
int32_t facts_http_version(long version);

#endif
