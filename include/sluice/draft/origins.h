/// The host's table `sluice.origins/1`: lists of hosts, which the engine reads and compares by its own rules.
///
/// A draft: the table may still change. A plugin that sends secrets to some hosts must not parse URLs by itself: if two
/// parsers disagree about a URL, the secret goes to the wrong host.
#ifndef SLUICE_DRAFT_ORIGINS_H
#define SLUICE_DRAFT_ORIGINS_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/error.h>
#include <sluice/exchange.h>
#include <sluice/host.h>
#include <sluice/status.h>

#define SLUICE_ORIGINS_ID "sluice.origins/1"

/// A list of hosts that `read` has made.
typedef struct sluice_origin_list sluice_origin_list;

typedef struct sluice_origins {
  uint32_t size;
  uint32_t reserved;
  /// Makes a list from an array of strings: `api.example.com`, `*.example.com`, `*`, each with an optional `https://`
  /// before it and `:port` after it. A name beyond ASCII is converted to its A-labels (IDNA2008). If an entry is bad or
  /// the array is empty, returns SLUICE_STATUS_FAILED and no list. `name` says where the list is in the configuration;
  /// the message for a bad entry begins with `name` and the index of the entry. The list belongs to the plugin until
  /// `release`. [control]
  sluice_status (*read)(
      const sluice_host *host, const json_t *hosts, const char *name, sluice_origin_list **list, sluice_error *error);
  /// Returns SLUICE_STATUS_OK if the URL of the request is on the list, SLUICE_STATUS_ABSENT if it is not. Before
  /// on_issue, the function compares the list with the current URL of the request; from on_issue on, it compares the
  /// list with the URL of the hop. [loop]
  sluice_status (*match)(sluice_exchange *exchange, const sluice_origin_list *list);
  /// Releases the list; NULL does nothing. Must be called before the instance's `destroy` returns. [any]
  void (*release)(sluice_origin_list *list);
} sluice_origins;
#define SLUICE_ORIGINS_SIZE_1 32u

#endif
