#include "CTestKit.h"

#include <brotli/encode.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

// Adding 16 to the window size asks zlib for gzip; a negative size asks for bare deflate data.
static size_t encode_deflate(int window_bits, const void *bytes, size_t count, void *out, size_t room) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  stream.next_in = (z_const Bytef *)bytes;
  stream.avail_in = (uInt)count;
  stream.next_out = out;
  stream.avail_out = (uInt)room;
  int status = deflate(&stream, Z_FINISH);
  size_t written = stream.total_out;
  deflateEnd(&stream);
  return status == Z_STREAM_END ? written : 0;
}

static size_t encode_zstd(int window_log, const void *bytes, size_t count, void *out, size_t room) {
  ZSTD_CCtx *context = ZSTD_createCCtx();
  if (!context) return 0;
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  // Leaves the content size out of the frame. If the frame had the size, zstd would make the window no larger than the
  // content, whatever the window log says.
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_inBuffer input = {bytes, count, 0};
  ZSTD_outBuffer output = {out, room, 0};
  // The input is compressed in two steps, so that the total size is not known when the frame begins.
  size_t left = ZSTD_compressStream2(context, &output, &input, ZSTD_e_flush);
  if (!ZSTD_isError(left)) left = ZSTD_compressStream2(context, &output, &input, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  return left == 0 ? output.pos : 0;
}

size_t sluice_test_encode(sluice_test_coding coding, const void *bytes, size_t count, void *out, size_t room) {
  switch (coding) {
    case SLUICE_TEST_GZIP: return encode_deflate(16 + MAX_WBITS, bytes, count, out, room);
    case SLUICE_TEST_DEFLATE: return encode_deflate(MAX_WBITS, bytes, count, out, room);
    case SLUICE_TEST_BARE_DEFLATE: return encode_deflate(-MAX_WBITS, bytes, count, out, room);
    case SLUICE_TEST_ZSTD: return encode_zstd(0, bytes, count, out, room);
    case SLUICE_TEST_WIDE_ZSTD: return encode_zstd(24, bytes, count, out, room);
    case SLUICE_TEST_BROTLI: {
      size_t written = room;
      int done = BrotliEncoderCompress(5, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, count, bytes, &written, out);
      return done ? written : 0;
    }
  }
  return 0;
}
