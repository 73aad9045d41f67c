import CZlib

/// Decodes gzip and deflate with zlib.
final class InflateDecoder: StreamDecoder {
  private let coding: ContentCoding
  /// The state of zlib. It has a fixed address, because zlib keeps a pointer to it.
  private let stream: UnsafeMutablePointer<z_stream>
  private var isBegun = false
  private(set) var isComplete = false

  init(_ coding: ContentCoding) {
    self.coding = coding
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
  }

  deinit {
    if isBegun { inflateEnd(stream) }
    stream.deallocate()
  }

  func decode(
    _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int {
    var written = 0
    while written < output.count, try prepare(for: input) {
      let (taken, made, status) = step(input, output.dropping(written))
      input = input.dropping(taken)
      written += made
      switch status {
      case Z_STREAM_END: isComplete = true
      case Z_OK, Z_BUF_ERROR: if taken == 0, made == 0 { return written }
      case Z_MEM_ERROR: throw .noMemory(coding)
      default: throw failure
      }
    }
    return written
  }

  /// Begins the stream or the next member if necessary. Returns false if more input is needed for this.
  private func prepare(for input: UnsafeRawBufferPointer) throws(ContentDecodingError) -> Bool {
    guard !isBegun || isComplete else { return true }
    guard let first = input.first else { return false }
    if isComplete {
      // In gzip, members follow one another (RFC 1952 §2.2). Any bytes after a member are parsed as a member, so other
      // data is refused.
      guard coding == .gzip else { throw .trailingBytes(coding) }
      isComplete = false
      inflateReset(stream)
    } else {
      guard sluice_inflate_init(stream, windowBits(first)) == Z_OK else { throw .noMemory(coding) }
      isBegun = true
    }
    return true
  }

  /// zlib's code for the format and the window size.
  private func windowBits(_ first: UInt8) -> Int32 {
    if coding == .gzip { return 16 + MAX_WBITS }
    // In the zlib format, the method is 8, and the code of the window size is at most 7 (RFC 1950 §2.2). Bare deflate
    // data begins with such values only if its first block is stored and has padding that is not zero. No encoder
    // writes such padding.
    let isZlib = first & 0x0F == 8 && first >> 4 <= 7
    return isZlib ? MAX_WBITS : -MAX_WBITS
  }

  private func step(
    _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
  ) -> (taken: Int, made: Int, status: Int32) {
    let inputCount = UInt32(clamping: input.count)
    let outputCount = UInt32(clamping: output.count)
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = inputCount
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = outputCount
    let status = inflate(stream, Z_NO_FLUSH)
    return (Int(inputCount - stream.pointee.avail_in), Int(outputCount - stream.pointee.avail_out), status)
  }

  private var failure: ContentDecodingError {
    let text = stream.pointee.msg.map { String(cString: $0) }
    return ContentDecodingError(.invalid, "\(coding.rawValue): \(text ?? "not valid")")
  }
}

extension ContentDecodingError {
  static func trailingBytes(_ coding: ContentCoding) -> ContentDecodingError {
    ContentDecodingError(.trailingBytes, "\(coding.rawValue): there are more bytes after the end of the coded data")
  }

  static func noMemory(_ coding: ContentCoding) -> ContentDecodingError {
    ContentDecodingError(.noMemory, "\(coding.rawValue): no memory for a decoder")
  }
}
