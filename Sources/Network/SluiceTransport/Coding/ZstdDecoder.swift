import CZstd

/// Decodes zstd (RFC 8878), one or more frames, with libzstd.
final class ZstdDecoder: StreamDecoder {
  /// The windows of a content coding have at most 8 MB (RFC 9659), so that a few bytes cannot demand more memory.
  private static let maximumWindowLog: Int32 = 23

  private let context: OpaquePointer
  /// Whether the output was full. If so, the decoder may have more output.
  private var hasMore = false
  private(set) var isComplete = false

  init() throws(ContentDecodingError) {
    guard let context = ZSTD_createDCtx() else { throw .noMemory(.zstd) }
    self.context = context
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.maximumWindowLog)
  }

  deinit { ZSTD_freeDCtx(context) }

  func decode(
    _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int {
    var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    // The decoder is called without input only if it may have more output. Otherwise it would begin another frame.
    while target.pos < target.size, hasMore || !input.isEmpty {
      var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
      let result = ZSTD_decompressStream(context, &target, &source)
      input = input.dropping(source.pos)
      guard ZSTD_isError(result) == 0 else { throw failure(result) }
      isComplete = result == 0
      hasMore = !isComplete && target.pos == target.size
    }
    return target.pos
  }

  private func failure(_ result: Int) -> ContentDecodingError {
    if ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation { return .noMemory(.zstd) }
    let text = ZSTD_getErrorName(result).map { String(cString: $0) } ?? "not valid"
    return ContentDecodingError(.invalid, "zstd: \(text)")
  }
}
