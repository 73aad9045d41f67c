#ifndef SLUICE_ATTACH_FACTS_H
#define SLUICE_ATTACH_FACTS_H
#include "CAttachABI.h"
#include "handle.h"

/// Reads libcurl's current facts about the transfer. Its times are sums over all hops.
void facts_read(struct sluice_attach_facts *facts, const struct handle *handle);

/// Whether the request that libcurl is about to send is one of HTTP. Its URL need not say so: libcurl gets ftp: URLs
/// from an HTTP proxy by HTTP.
bool facts_speak_http(const struct handle *handle);

/// The ABI's number for an HTTP version of libcurl; 0 if the ABI has no number for it.
int32_t facts_http_version(long version);

#endif
