/// Undoes the codings of one body as it comes: bytes in, bytes out, never more than there is room for.
///
///     wire ──► last coding ──► … ──► first coding ──► output
///
/// Whoever gives it room bounds what a small body can grow to: it holds no output of its own but the windows of the codings,
/// and between two codings a few kilobytes. Confined to one thread at a time.
public final class ContentDecoder {
  /// One coding, and what the one before it on the way from the wire has made for it.
  private final class Link {
    let coding: ContentCoding
    let decoder: any StreamDecoder
    /// None for the first on the way, which reads from the wire.
    let buffer: UnsafeMutableRawBufferPointer
    var pending = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ coding: ContentCoding, bufferBytes: Int) throws(ContentDecodingError) {
      decoder = try coding.makeDecoder()
      self.coding = coding
      buffer = .allocate(byteCount: bufferBytes, alignment: 1)
    }

    deinit { buffer.deallocate() }
  }

  private static let bufferBytes = 16_384

  /// From the wire on: the coding that was applied last comes first.
  private let links: [Link]

  /// - Throws: an unknown coding, too many of them, or no memory.
  public init(_ codings: ContentCodings) throws(ContentDecodingError) {
    try codings.check()
    var links: [Link] = []
    for coding in codings.codings.reversed() {
      links.append(try Link(coding, bufferBytes: links.isEmpty ? 0 : Self.bufferBytes))
    }
    self.links = links
  }

  /// Decodes until the input is used up or the output is full.
  ///
  /// - Parameter input: loses from its front what was taken; call again with the rest when the output was full.
  /// - Returns: bytes written; fewer than there is room for means that all input was taken, and nothing is left to write.
  public func decode(
    _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int {
    try pull(links.count - 1, &input, into: output)
  }

  /// The body has ended.
  /// - Throws: ``ContentDecodingError/Code/truncated`` where a coding has not.
  public func finish() throws(ContentDecodingError) {
    for link in links where !link.decoder.isComplete || !link.pending.isEmpty {
      throw ContentDecodingError(.truncated, "\(link.coding.rawValue): it ends in the middle of the coded data")
    }
  }

  /// What comes out of a link, and whatever the ones before it have to give for that. As deep as there are codings.
  private func pull(
    _ index: Int, _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int {
    guard links.indices.contains(index) else { return Self.copy(&input, into: output) }
    let link = links[index]
    guard index > 0 else { return try link.decoder.decode(&input, into: output) }
    var written = 0
    while true {
      written += try link.decoder.decode(&link.pending, into: output.dropping(written))
      if written == output.count { return written }
      let count = try pull(index - 1, &input, into: link.buffer)
      if count == 0 { return written }
      link.pending = UnsafeRawBufferPointer(rebasing: link.buffer[..<count])
    }
  }

  /// A body without a coding.
  private static func copy(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(input.count, output.count)
    output.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
    input = input.dropping(count)
    return count
  }
}
