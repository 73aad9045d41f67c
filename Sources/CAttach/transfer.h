// A transfer of the program that goes through the pipeline.
#ifndef SLUICE_ATTACH_TRANSFER_H
#define SLUICE_ATTACH_TRANSFER_H
#include "CAttachABI.h"
#include "handle.h"
#include "reply.h"

/// Runs the request stages for the request of a handle, and prepares libcurl for the hops. A handle without the pipeline
/// is left as it is, and counted.
///
/// @return CURLE_OK; otherwise the transfer must not begin, and the program's error buffer says why
CURLcode transfer_begin(struct handle *handle);

enum transfer_start {
  /// Libcurl may have the handle.
  TRANSFER_READY,
  /// A request stage is suspended.
  TRANSFER_WAITS,
  /// The transfer must not begin, because libcurl could not be told to refuse it.
  TRANSFER_FAILED,
};

/// Like `transfer_begin`, for a program that learns of errors from curl_multi_info_read: a refused transfer begins, and
/// ends before its first hop sends anything. Does not wait for a suspended stage.
enum transfer_start transfer_begin_in_multi(struct handle *handle);

/// Continues a transfer whose request stage was suspended.
///
/// @param blocks whether to wait until the stage is resumed
enum transfer_start transfer_go_on(struct handle *handle, bool blocks);

/// Call it when libcurl has ended a transfer. Gives the program the part of the response that is still held back.
///
/// @return how the transfer ended, for the program
CURLcode transfer_settle(struct handle *handle, CURLcode code);

/// Whether a whole head is held back, which `transfer_settle_head` gives to the program if the transfer has ended.
bool transfer_has_whole_head(const struct handle *handle);

/// Call it when libcurl has ended a transfer and the program has not asked for its result yet.
void transfer_settle_head(struct handle *handle);

/// The response of the transfer that runs on a handle; NULL without one.
struct reply *transfer_reply(struct handle *handle);

/// Whether the transfer must end.
bool transfer_is_refused(const struct handle *handle);

/// Runs the response stages on the lines of a head.
///
/// @param answer gets other lines if the stages have changed some
/// @return false if the program must get nothing of the response
bool transfer_receive(
    struct handle *handle, const struct sluice_attach_text *lines, size_t count, struct sluice_attach_answer *answer);

/// Ends the transfer because of its response.
///
/// @return whether the response continues nevertheless, because the transfer has no pipeline any more
bool transfer_refuse(struct handle *handle, const char *message);

/// Call it when memory ran out: the transfer continues without the pipeline, or must end.
///
/// @return whether the transfer continues
bool transfer_give_up(struct handle *handle);

/// Ends what `transfer_begin` has begun, and restores the program's settings of the handle. Does nothing for a handle
/// without a transfer.
void transfer_end(struct handle *handle, CURLcode code, bool is_cancelled);

/// Ends the transfer of a handle that libcurl has freed without a call that this library sees.
void transfer_abandon(struct handle *handle);

/// Whether libcurl has the transfer's value for an option, so that the program's value must wait for the end.
bool transfer_replaces(const struct handle *handle, CURLoption option);

/// Gives a handle that was duplicated during a transfer the settings of the program in place of those of the transfer.
void transfer_undo_copy(const struct handle *original, CURL *copy);

#endif
