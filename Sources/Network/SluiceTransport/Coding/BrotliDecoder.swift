import CBrotli

/// Decodes br (RFC 7932) with libbrotlidec. A window of more than 16 MB is refused, because the coding does not define
/// it.
final class BrotliDecoder: StreamDecoder {
  private let state: OpaquePointer
  private(set) var isComplete = false

  init() throws(ContentDecodingError) {
    guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .noMemory(.brotli) }
    self.state = state
  }

  deinit { BrotliDecoderDestroyInstance(state) }

  func decode(
    _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int {
    if isComplete {
      guard input.isEmpty else { throw .trailingBytes(.brotli) }
      return 0
    }
    var inputCount = input.count
    var nextInput = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var room = output.count
    var nextOutput = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = BrotliDecoderDecompressStream(state, &inputCount, &nextInput, &room, &nextOutput, nil)
    input = input.dropping(input.count - inputCount)
    guard result != BROTLI_DECODER_RESULT_ERROR else { throw failure }
    isComplete = result == BROTLI_DECODER_RESULT_SUCCESS
    if isComplete, !input.isEmpty { throw .trailingBytes(.brotli) }
    return output.count - room
  }

  private var failure: ContentDecodingError {
    let text = BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)).map { String(cString: $0) }
    return ContentDecodingError(.invalid, "br: \(text ?? "not valid")")
  }
}
