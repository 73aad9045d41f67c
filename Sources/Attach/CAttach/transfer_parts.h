// The members of a transfer, for the files that implement it. A file calls only files above it in this list:
// transfer_refusal.c, transfer_facts.c, transfer_response.c, reply.c, transfer_settings.c, transfer_hop.c,
// transfer_end.c, transfer_begin.c.
#ifndef SLUICE_ATTACH_TRANSFER_PARTS_H
#define SLUICE_ATTACH_TRANSFER_PARTS_H
#include "changes.h"
#include "response.h"
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

/// The facts about the transfer now; NULL if the host wants no facts.
const struct sluice_attach_facts *transfer_facts(struct sluice_attach_facts *facts, const struct handle *handle);

/// Reads the response to a hop; only its status if the host wants no facts.
void transfer_read_response(struct response *response, const struct handle *handle, int number);

/// Makes libcurl call the pre-request callback of this library before each hop.
///
/// @return false if libcurl does not accept it
bool transfer_watch_hops(struct handle *handle);

/// Restores the program's own settings in libcurl.
void transfer_restore(struct handle *handle);

/// Frees the transfer of a handle.
void transfer_close(struct handle *handle);

#endif
