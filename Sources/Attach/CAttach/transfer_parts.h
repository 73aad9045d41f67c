// The members of a transfer, for the files that implement it: transfer.c, transfer_refusal.c and transfer_response.c.
#ifndef SLUICE_ATTACH_TRANSFER_PARTS_H
#define SLUICE_ATTACH_TRANSFER_PARTS_H
#include "changes.h"
#include "transfer.h"

struct transfer {
  /// The host's object for the transfer; NULL if the transfer was refused without the host.
  void *attached;
  /// The value of `session_generation` when the transfer began.
  unsigned generation;
  struct changes changes;
  struct reply reply;
  /// The number of hops until now.
  unsigned hops;
  /// The number that the next response to read has among the responses that libcurl keeps.
  int next_response;
  /// Whether libcurl should send no HTTP request: the URL is one of another protocol, or libcurl refuses it. Such a
  /// transfer has no `attached`.
  bool is_other_protocol;
  /// Whether a request stage is suspended.
  bool is_waiting;
  /// Whether the host wants facts and the fields of responses. They are not read otherwise, because that costs as much
  /// as the stages.
  bool wants_facts;
  /// Whether the changes of the stages could not be made, so that the transfer continues without them.
  bool is_given_up;
  /// Why no hop may send anything; NULL if hops may send.
  char *refusal;
};

/// Ends the transfer before its next hop sends anything.
///
/// @param message is copied; NULL or empty for a general message
void transfer_set_refusal(struct transfer *transfer, const char *message);

/// Like `transfer_set_refusal`, for a transfer that must have a pipeline and has none.
void transfer_refuse_without_pipeline(struct transfer *transfer, enum sluice_attach_count reason);

void transfer_drop_refusal(struct transfer *transfer);

/// Writes a message to the program's error buffer. Programs show this message.
void transfer_tell(struct handle *handle, const char *message);

/// Call it when the changes of the stages cannot be made, for example because memory ran out. If `attach.onMissing` is
/// "fail", the transfer is refused. Otherwise it continues without the pipeline and is counted.
void transfer_lose_pipeline(struct handle *handle, enum sluice_attach_count reason);

#endif
