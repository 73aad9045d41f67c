// A transfer of the program that goes through the pipeline.
#ifndef SLUICE_ATTACH_TRANSFER_H
#define SLUICE_ATTACH_TRANSFER_H
#include "CAttachABI.h"
#include "handle.h"
#include "reply.h"

/// Runs the request stages for the request of a handle, and prepares libcurl for the hops. A handle that gets no
/// pipeline is not changed, and is counted.
///
/// @return CURLE_OK; otherwise the transfer must not begin, and the program's error buffer says why
CURLcode transfer_begin(struct handle *handle);

enum transfer_start {
  /// The handle can be given to libcurl.
  TRANSFER_READY,
  /// A request stage is suspended.
  TRANSFER_WAITS,
  /// The transfer is refused, but what would end it before its first hop could not be set up. So it must not begin.
  TRANSFER_FAILED,
};

/// Like `transfer_begin`, for a handle of a multi handle. Here the program learns of errors from curl_multi_info_read.
/// So even a refused transfer begins, and ends before its first hop sends anything. Does not wait for a suspended
/// stage.
enum transfer_start transfer_begin_in_multi(struct handle *handle);

/// Continues a transfer whose request stage was suspended.
///
/// @param blocks whether to wait until the stage is resumed
enum transfer_start transfer_go_on(struct handle *handle, bool blocks);

/// Gives the program the part of the response that is still held back. Call it when libcurl has ended a transfer.
///
/// @return the result that the program gets
CURLcode transfer_settle(struct handle *handle, CURLcode code);

/// Whether a whole head is held back. If the transfer has ended, `transfer_settle_head` gives the head to the program.
bool transfer_has_whole_head(const struct handle *handle);

/// Gives the program the head that is held back. Call it when libcurl has ended a transfer and the program has not
/// asked for its result yet.
void transfer_settle_head(struct handle *handle);

/// The response of the transfer that runs on a handle; NULL if no transfer runs on it.
struct reply *transfer_reply(struct handle *handle);

/// Whether the transfer was refused and must end.
bool transfer_is_refused(const struct handle *handle);

/// Runs the response stages on the lines of a head.
///
/// @param answer gets the new lines if the stages have changed the head
/// @return false if the program must get nothing of the response
bool transfer_receive(
    struct handle *handle, const struct sluice_attach_text *lines, size_t count, struct sluice_attach_answer *answer);

/// Ends the transfer because of its response.
///
/// @return true if the response continues nevertheless, because the transfer has no pipeline any more
bool transfer_refuse(struct handle *handle, const char *message);

/// Call it when memory ran out: the transfer continues without the pipeline, or must end.
///
/// @return whether the transfer continues
bool transfer_give_up(struct handle *handle);

/// Ends the transfer that `transfer_begin` has begun, and restores the program's settings of the handle. Does nothing
/// for a handle without a transfer.
void transfer_end(struct handle *handle, CURLcode code, bool is_cancelled);

/// Ends the transfer of a handle that libcurl has freed without a call that this library sees.
void transfer_abandon(struct handle *handle);

/// Whether an option has a value of the transfer in libcurl, in place of the program's value. If so, a new value of the
/// program is set only when the transfer ends.
bool transfer_replaces(const struct handle *handle, CURLoption option);

/// Gives a handle that was duplicated during a transfer the settings of the program in place of those of the transfer.
void transfer_undo_copy(const struct handle *original, CURL *copy);

#endif
