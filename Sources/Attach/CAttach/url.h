#ifndef SLUICE_ATTACH_URL_H
#define SLUICE_ATTACH_URL_H
#include "handle.h"

enum url_kind {
  URL_HTTP,
  URL_OTHER_PROTOCOL,
  /// Libcurl only connects to the host of an HTTP URL. Set by `request_read`.
  URL_CONNECTION,
  /// Libcurl will refuse the URL, so nothing is sent.
  URL_INVALID,
  /// The URL could not be determined, for example because memory ran out.
  URL_UNREADABLE,
};

/// Reads the URL to which libcurl will send the first request of a handle, with libcurl's own parser where parsers
/// could disagree.
///
/// @param url gets a copy if the result is URL_HTTP, to be released with free()
enum url_kind url_read(char **url, const struct handle *handle);

/// Whether libcurl refuses the URL of a handle. `url_read` does not ask libcurl about a plain URL.
bool url_is_refused(const struct handle *handle);

#endif
