// The parts of a transfer, for the files that make it go on.
#ifndef SLUICE_ATTACH_TRANSFER_PARTS_H
#define SLUICE_ATTACH_TRANSFER_PARTS_H
#include "changes.h"
#include "transfer.h"

struct transfer {
  /// The host's; NULL after a refusal without one.
  void *attached;
  /// The session_generation in which it began.
  unsigned generation;
  struct changes changes;
  struct reply reply;
  /// Hops so far.
  unsigned hops;
  /// The number of the next response in libcurl's memory.
  int next_response;
  /// A request stage is suspended.
  bool is_waiting;
  /// The host wants facts and the fields of responses; to read them costs as much as the stages.
  bool wants_facts;
  /// What stages wanted could not be done, and the program goes on without them.
  bool is_given_up;
  /// Why no hop may send anything; NULL if it may.
  char *refusal;
};

/// Ends the transfer before its next hop sends anything.
///
/// @param message is copied; NULL or nothing for words that fit always
void transfer_set_refusal(struct transfer *transfer, const char *message);

/// Writes to the program's error buffer, which programs show.
void transfer_tell(struct handle *handle, const char *message);

/// What the stages want cannot be done, for example because memory ran out: a fault of the pipeline, not of the program.
/// The transfer goes on without it and is counted, or is refused.
void transfer_lose_pipeline(struct handle *handle, enum sluice_attach_count reason);

#endif
