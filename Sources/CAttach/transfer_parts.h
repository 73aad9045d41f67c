// The parts of a transfer, for the files that continue it.
#ifndef SLUICE_ATTACH_TRANSFER_PARTS_H
#define SLUICE_ATTACH_TRANSFER_PARTS_H
#include "changes.h"
#include "transfer.h"

struct transfer {
  /// The transfer of the host; NULL after a refusal without the host.
  void *attached;
  /// The `session_generation` when it began.
  unsigned generation;
  struct changes changes;
  struct reply reply;
  /// Hops so far.
  unsigned hops;
  /// The number of the next response in libcurl's memory.
  int next_response;
  /// A request stage is suspended.
  bool is_waiting;
  /// The host wants facts and the fields of responses; reading them costs as much as the stages.
  bool wants_facts;
  /// The changes of the stages could not be made, and the transfer continues without them.
  bool is_given_up;
  /// Why no hop may send anything; NULL if hops may send.
  char *refusal;
};

/// Ends the transfer before its next hop sends anything.
///
/// @param message is copied; NULL or empty for a general message
void transfer_set_refusal(struct transfer *transfer, const char *message);

/// Writes to the program's error buffer, which programs show.
void transfer_tell(struct handle *handle, const char *message);

/// Call it when the changes of the stages cannot be made, for example because memory ran out. That is a fault of the
/// pipeline, not of the program: the transfer continues without the pipeline and is counted, or is refused.
void transfer_lose_pipeline(struct handle *handle, enum sluice_attach_count reason);

#endif
