// A transfer of the program that goes through the pipeline.
#ifndef SLUICE_ATTACH_TRANSFER_H
#define SLUICE_ATTACH_TRANSFER_H
#include "handle.h"

/// Runs the request stages for the request of a handle, and prepares libcurl for the hops. A handle without the pipeline
/// is left as it is, and counted.
///
/// @return CURLE_OK; otherwise the transfer must not begin, and the program's error buffer says why
CURLcode transfer_begin(struct handle *handle);

/// Like `transfer_begin`, for a program that learns of errors from curl_multi_info_read: what refuses the transfer does
/// so before its first hop sends anything.
///
/// @return false if the transfer must not begin, because libcurl could not be told to refuse it
bool transfer_begin_in_multi(struct handle *handle);

/// Ends what `transfer_begin` has begun, and gives the handle back as the program has set it. Does nothing for a handle
/// without a transfer.
void transfer_end(struct handle *handle, CURLcode code, bool is_cancelled);

/// Ends the transfer of a handle that libcurl has freed unseen.
void transfer_abandon(struct handle *handle);

/// Whether libcurl has a setting of the transfer in place of the program's, so that the program's must wait for the end.
bool transfer_replaces(const struct handle *handle, CURLoption option);

/// Gives a handle that was duplicated during a transfer the settings of the program in place of those of the transfer.
void transfer_undo_copy(const struct handle *original, CURL *copy);

#endif
