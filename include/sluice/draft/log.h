/// The host's table `sluice.log/1`: structured log records, and whether a level is logged at all.
///
/// A draft: the table may still change.
#ifndef SLUICE_DRAFT_LOG_H
#define SLUICE_DRAFT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <sluice/draft/attribute.h>
#include <sluice/exchange.h>
#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_LOG_ID "sluice.log/1"

/// What `write` logs. Everything is borrowed until `write` returns.
typedef struct sluice_log_record {
  uint32_t size;
  sluice_log_level level;
  /// Cut off and escaped like the text of `log`.
  sluice_text message;
  /// At most SLUICE_ATTRIBUTE_COUNT attributes. Their texts are cut off and escaped like the message. If two attributes
  /// have the same name, the later one counts. May be NULL if the count is 0.
  const sluice_attribute *attributes;
  size_t attribute_count;
  /// The exchange that the record is about, or NULL. It must be valid on this thread. The record then has the
  /// transaction's id, its request id and the attempt. It also has the attributes of the transaction
  /// (`sluice.attributes/1`), except those whose names occur in the record's own list.
  sluice_exchange *exchange;
} sluice_log_record;
#define SLUICE_LOG_RECORD_SIZE_1 48u

typedef struct sluice_logger {
  uint32_t size;
  uint32_t reserved;
  /// Returns SLUICE_STATUS_OK if records of the level are logged, SLUICE_STATUS_ABSENT if they are dropped,
  /// SLUICE_STATUS_INVALID for an unknown level. Takes no lock, and the answer does not change while the instance
  /// lives. [any]
  sluice_status (*is_enabled)(const sluice_host *host, sluice_log_level level);
  /// Writes a record with plugin, generation and stage, like `log`. A record of a level that is not logged is dropped
  /// without being read, and the result is SLUICE_STATUS_OK. Returns SLUICE_STATUS_INVALID if the level is unknown, if
  /// a text has a size but no data, if there are too many attributes, or if the name, kind, flags or number of an
  /// attribute is not allowed. Returns SLUICE_STATUS_WRONG_THREAD and SLUICE_STATUS_STALE for an exchange that must not
  /// be used, as the functions of an exchange do. Returns SLUICE_STATUS_CLOSING at the entry point, and after the end
  /// of the host. If it returns an error, nothing is logged. [any]
  sluice_status (*write)(const sluice_host *host, const sluice_log_record *record);
} sluice_logger;
#define SLUICE_LOGGER_SIZE_1 24u

#endif
