// The response or the error that an exchange has received.
#ifndef SLUICE_ATTACH_EXCHANGE_RESULT_H
#define SLUICE_ATTACH_EXCHANGE_RESULT_H
#include "CAttachABI.h"
#include "libcurl.h"

struct exchange_result;

/// NULL if memory ran out.
struct exchange_result *exchange_result_make(void);

/// Makes a handle put the body and the message of an error into the result.
void exchange_result_receive(
    struct exchange_result *result, CURL *easy, const struct libcurl *curl, size_t limit_bytes);

/// Copies what the handle knows about the response into the result.
///
/// @param easy NULL if there was no memory for a handle
void exchange_result_end(struct exchange_result *result, CURL *easy, const struct libcurl *curl, CURLcode code);

/// Lends the contents of the result. Sets `memory` to the result, so that `exchange_release` can free it.
void exchange_result_show(struct exchange_result *result, struct sluice_attach_exchanged *exchanged);

/// @param result may be NULL
void exchange_result_free(struct exchange_result *result);

#endif
