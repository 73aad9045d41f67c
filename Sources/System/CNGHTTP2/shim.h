// nghttp2: the frames, streams, windows and header compression of HTTP/2.
#ifndef SLUICE_CNGHTTP2_SHIM_H
#define SLUICE_CNGHTTP2_SHIM_H
#include <nghttp2/nghttp2.h>
#endif
