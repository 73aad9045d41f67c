// The settings that libcurl has during a transfer, and those of the program.
#include "transfer_parts.h"

void transfer_restore(struct handle *handle) {
  const struct options *options = &handle->options;
  const struct libcurl *curl = handle->curl;
  changes_restore(&handle->transfer->changes, handle);
  reply_unwrap(&handle->transfer->reply, handle);
  if (!curl->is_complete) return;
  curl->easy_setopt(handle->easy, CURLOPT_PREREQFUNCTION, options->pre_request);
  curl->easy_setopt(handle->easy, CURLOPT_PREREQDATA, options->pre_request_data);
}

bool transfer_replaces(const struct handle *handle, CURLoption option) {
  if (!handle->transfer) return false;
  if (option == CURLOPT_HTTPHEADER) return handle->transfer->changes.has_new_lines;
  if (reply_replaces(&handle->transfer->reply, option)) return true;
  return option == CURLOPT_PREREQFUNCTION || option == CURLOPT_PREREQDATA;
}

void transfer_undo_copy(const struct handle *original, CURL *copy) {
  if (!original->transfer) return;
  struct transfer like = *original->transfer;
  like.changes.lines = NULL;
  // A temporary entry for the copy, which borrows the texts of the original. It is not in the table, because there may
  // be no memory for an entry.
  struct handle handle = {.easy = copy, .curl = original->curl, .options = original->options, .transfer = &like};
  transfer_restore(&handle);
}
