/// The host's table `sluice.attributes/1`: typed values on a transaction, which its other stages, results and logs
/// show.
///
/// A draft: the table may still change.
#ifndef SLUICE_DRAFT_ATTRIBUTES_H
#define SLUICE_DRAFT_ATTRIBUTES_H

#include <stddef.h>
#include <stdint.h>

#include <sluice/draft/attribute.h>
#include <sluice/exchange.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_ATTRIBUTES_ID "sluice.attributes/1"

/// The group of the functions `set` and `remove`, for `may_call`.
enum { SLUICE_CALL_SET_ATTRIBUTE = 13 };

/// The attributes of a transaction live from the first `set` to the end of the transaction, over all attempts and hops.
/// Every stage and tracer of the transaction sees the same attributes. They are shown in results, in the event log, and
/// in log records about an exchange.
typedef struct sluice_attributes {
  uint32_t size;
  uint32_t reserved;
  /// Sets an attribute, whose name and text are copied; the last setter of a name wins, whichever plugin it is. Returns
  /// SLUICE_STATUS_INVALID for a name, kind, flag or number that is not allowed, and for a text that is not UTF-8 or
  /// longer than SLUICE_ATTRIBUTE_TEXT_BYTES. Returns SLUICE_STATUS_LIMIT for a new name when the transaction already
  /// has SLUICE_ATTRIBUTE_COUNT attributes, and SLUICE_STATUS_REFUSED in on_event. [loop]
  sluice_status (*set)(sluice_exchange *exchange, const sluice_attribute *attribute);
  /// Gets the attribute of that name; the text of a secret is not hidden. Name and text are borrowed until the call of
  /// the stage returns. Returns SLUICE_STATUS_ABSENT if there is no such attribute. [loop]
  sluice_status (*get)(sluice_exchange *exchange, sluice_text name, sluice_attribute *attribute);
  /// Removes the attribute. Returns SLUICE_STATUS_ABSENT if there is no such attribute, SLUICE_STATUS_REFUSED in
  /// on_event. [loop]
  sluice_status (*remove)(sluice_exchange *exchange, sluice_text name);
  /// The attribute at an index, from 0, in the order in which the names were first set. Returns SLUICE_STATUS_ABSENT if
  /// there is no attribute at the index. [loop]
  sluice_status (*at)(sluice_exchange *exchange, size_t index, sluice_attribute *attribute);
} sluice_attributes;
#define SLUICE_ATTRIBUTES_SIZE_1 40u

#endif
