// zlib, and its initializers, which are macros that Swift cannot call.
#ifndef SLUICE_CZLIB_SHIM_H
#define SLUICE_CZLIB_SHIM_H
#include <zlib.h>

static inline int sluice_inflate_init(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }

#endif
