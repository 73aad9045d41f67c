/// Decodes one body incrementally. It takes bytes and returns bytes, but never more than the caller's buffer can hold.
///
///     wire ──► last coding ──► … ──► first coding ──► output
///
/// The caller's buffer therefore limits the memory that a small body can take when it is decoded. The decoder itself
/// holds only the windows of the codings, and a few kilobytes between two codings. Confined to one thread at a time.
package final class ContentDecoder {
  /// The decoder of one coding. Its input comes from the wire, or from a buffer with the output of another decoder.
  private final class Link {
    let coding: ContentCoding
    let decoder: any StreamDecoder
    /// Empty for the first link, which reads from the wire.
    let buffer: UnsafeMutableRawBufferPointer
    var pending = UnsafeRawBufferPointer(start: nil, count: 0)
    private var consumed = 0
    private var produced = 0

    init(_ coding: ContentCoding, bufferBytes: Int) throws(ContentDecodingError) {
      decoder = try coding.makeDecoder()
      self.coding = coding
      buffer = .allocate(byteCount: bufferBytes, alignment: 1)
    }

    deinit { buffer.deallocate() }

    /// Decodes a part of the input.
    func decode(
      _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> Int {
      let available = input.count
      let written = try decoder.decode(&input, into: output)
      consumed += available - input.count
      produced += written
      guard consumed - ContentDecoder.freeBytes <= produced.multipliedReportingOverflow(by: 16).partialValue else {
        throw ContentDecodingError(
          .invalid, "\(coding.rawValue): it has \(consumed) bytes of coded data for only \(produced) bytes of content")
      }
      return written
    }
  }

  /// The input of a coding can have up to 16 times as many bytes as its output, plus this number of bytes for names,
  /// comments and empty blocks. Without a limit, a small body could occupy the loop: an outer coding can produce
  /// endless input that an inner coding decodes to nothing.
  private static let freeBytes = 1 << 20

  private static let bufferBytes = 16_384

  /// Ordered from the wire: the coding that was applied last comes first.
  private let links: [Link]

  /// - Throws: an error if a coding is unknown, if there are too many codings, or if there is not enough memory.
  package init(_ codings: ContentCodings) throws(ContentDecodingError) {
    try codings.check()
    var links: [Link] = []
    for coding in codings.codings.reversed() {
      links.append(try Link(coding, bufferBytes: links.isEmpty ? 0 : Self.bufferBytes))
    }
    self.links = links
  }

  /// Decodes until the input is used up or the output is full.
  ///
  /// - Parameter input: the consumed bytes are removed from its front. If the output was full, call the function again
  ///   with the remaining bytes.
  /// - Returns: the number of bytes written. If it is smaller than the size of `output`, all input was consumed, and no
  ///   output is left in the decoder.
  package func decode(
    _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int {
    try pull(links.count - 1, &input, into: output)
  }

  /// Checks that all codings are complete. Must be called when the body has ended.
  /// - Throws: ``ContentDecodingError/Code/truncated`` if a coding has not ended.
  package func finish() throws(ContentDecodingError) {
    for link in links where !link.decoder.isComplete || !link.pending.isEmpty {
      throw ContentDecodingError(.truncated, "\(link.coding.rawValue): it ends in the middle of the coded data")
    }
  }

  /// Produces the output of a link, and gets the input from the previous link as needed. The recursion is as deep as
  /// the number of codings.
  private func pull(
    _ index: Int, _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int {
    guard links.indices.contains(index) else { return Self.copy(&input, into: output) }
    let link = links[index]
    guard index > 0 else { return try link.decode(&input, into: output) }
    var written = 0
    while true {
      written += try link.decode(&link.pending, into: output.dropping(written))
      if written == output.count { return written }
      let count = try pull(index - 1, &input, into: link.buffer)
      if count == 0 { return written }
      link.pending = UnsafeRawBufferPointer(rebasing: link.buffer[..<count])
    }
  }

  /// Copies a body without a coding.
  private static func copy(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(input.count, output.count)
    output.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
    input = input.dropping(count)
    return count
  }
}
