/// The host's table `sluice.reports/1`: what the host has counted, for plugins that export it.
///
/// A draft: the table may still change.
#ifndef SLUICE_DRAFT_REPORTS_H
#define SLUICE_DRAFT_REPORTS_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/host.h>

#define SLUICE_REPORTS_ID "sluice.reports/1"

typedef struct sluice_reports {
  uint32_t size;
  uint32_t reserved;
  /// Returns everything that was counted so far, as the document that docs/metrics.md describes. The caller owns the
  /// returned reference and must release it. Returns NULL in a trial, while the engine starts, and after the engine has
  /// ended. The host makes the whole document for each call, so call it periodically, not for each transaction. [any]
  json_t *(*metrics)(const sluice_host *host);
} sluice_reports;
#define SLUICE_REPORTS_SIZE_1 16u

#endif
