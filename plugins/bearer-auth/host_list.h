/// The hosts that may see the token.
#ifndef BEARER_AUTH_HOST_LIST_H
#define BEARER_AUTH_HOST_LIST_H

#include <stdbool.h>

#include <sluice/sluice.h>

#pragma GCC visibility push(hidden)

/// A host as it is compared: a name without its final dot or, so that each spelling of an address is known, an address.
typedef struct host_name {
  sluice_text text;
  bool is_address;
  /// In network order; an IPv4 address in its IPv4-mapped form.
  unsigned char address[16];
} host_name;

/// One entry: `api.example.com`, `*.example.com` or `*`; where a scheme or a port is given it must match too.
typedef struct host_rule {
  /// What the host is or, with its leading dot, ends with; empty for every host.
  host_name host;
  bool is_suffix;
  /// `http` or `https`; empty for both.
  sluice_text scheme;
  /// 0 for every port.
  unsigned port;
  char *storage;
} host_rule;

typedef struct host_list {
  host_rule *rules;
  size_t count;
} host_list;

/// Reads an array of strings; on failure nothing is left to release. [control]
sluice_status host_list_create(host_list *list, const json_t *hosts, sluice_error *error);
/// [control]
void host_list_destroy(host_list *list);
/// Whether the origin of an absolute URL is on the list; what follows the authority is never looked at. [any]
bool host_list_allows(const host_list *list, sluice_text url);

#pragma GCC visibility pop

#endif
