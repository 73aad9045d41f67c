import SluiceTestServers
import SluiceTransport
import Testing

/// Codings are decoded as the bytes arrive, in steps of bounded size, and an incomplete body is an error.
@Suite struct ContentDecoderTests {
  private static let text = Array(EncodedBody.text(lines: 2000).utf8)

  /// Passes the input to a decoder in pieces, and takes the output in pieces.
  private static func decode(
    _ input: [UInt8], _ codings: String, pieceBytes: Int = 1000, roomBytes: Int = 700
  ) throws -> [UInt8] {
    let decoder = try ContentDecoder(ContentCodings(codings))
    var output: [UInt8] = []
    for start in stride(from: 0, to: input.count, by: pieceBytes) {
      try input[start..<min(start + pieceBytes, input.count)].withUnsafeBytes { piece in
        var rest = piece
        var written: Int
        repeat {
          let step = try [UInt8](unsafeUninitializedCapacity: roomBytes) { buffer, count in
            count = try decoder.decode(&rest, into: UnsafeMutableRawBufferPointer(buffer))
          }
          written = step.count
          output += step
        } while written == roomBytes
        #expect(rest.isEmpty)
      }
    }
    try decoder.finish()
    return output
  }

  private static func code(_ input: [UInt8], _ codings: String) -> ContentDecodingError.Code? {
    do { _ = try decode(input, codings) } catch { return (error as? ContentDecodingError)?.code }
    return nil
  }

  @Test func `coded data that never decodes to any content is refused`() throws {
    // A gzip header whose file name does not end. Compressed with zstd, these 4 MiB are only a few kilobytes.
    let header: [UInt8] = [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: UInt8(ascii: "a"), count: 4 << 20)
    let body = EncodedBody.bytes(.zstd, header)
    #expect(body.count < 10_000)
    #expect(Self.code(body, "gzip, zstd") == .invalid)
    #expect(Self.code(Array(header.prefix(1 << 20)), "gzip") == .truncated)
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .deflate, .bareDeflate, .brotli, .zstd])
  func `a body decodes with any size of pieces and output`(_ coding: EncodedBody.Coding) throws {
    let encoded = EncodedBody.bytes(coding, Self.text)
    #expect(encoded.count < Self.text.count / 4)
    for (piece, room) in [(1, 65_536), (7, 1), (encoded.count, 13), (1000, 700)] {
      #expect(try Self.decode(encoded, coding.name, pieceBytes: piece, roomBytes: room) == Self.text)
    }
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .deflate, .bareDeflate, .brotli, .zstd])
  func `a body that is cut off at any place is reported as truncated`(_ coding: EncodedBody.Coding) {
    let encoded = EncodedBody.bytes(coding, Array("a short text, a short text".utf8))
    for count in 0..<encoded.count {
      #expect(Self.code(Array(encoded[..<count]), coding.name) == .truncated, "\(count) of \(encoded.count)")
    }
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .zstd])
  func `several members and frames form one body`(_ coding: EncodedBody.Coding) throws {
    let encoded = EncodedBody.bytes(coding, Self.text) + EncodedBody.bytes(coding, []) + EncodedBody.bytes(coding, [7])
    #expect(try Self.decode(encoded, coding.name) == Self.text + [7])
    #expect(Self.code(encoded.dropLast(), coding.name) == .truncated)
  }

  @Test(arguments: [EncodedBody.Coding.gzip, .deflate, .bareDeflate, .brotli, .zstd])
  func `bytes after the end of the coded data are refused`(_ coding: EncodedBody.Coding) {
    let code = Self.code(EncodedBody.bytes(coding, Self.text) + Array("more of it".utf8), coding.name)
    #expect(code == .trailingBytes || code == .invalid)
  }

  @Test(arguments: ["gzip", "br", "zstd", "deflate"])
  func `bytes of another coding are invalid`(_ name: String) {
    #expect(Self.code(Array(repeating: 0xFF, count: 100), name) == .invalid)
  }

  @Test func `codings are decoded in reverse order`() throws {
    let encoded = EncodedBody.bytes(.zstd, EncodedBody.bytes(.brotli, EncodedBody.bytes(.gzip, Self.text)))
    for (piece, room) in [(1, 1), (1000, 700), (encoded.count, Self.text.count)] {
      #expect(try Self.decode(encoded, "gzip, BR ,\tzstd", pieceBytes: piece, roomBytes: room) == Self.text)
    }
    #expect(Self.code(encoded, "zstd, br, gzip") == .invalid)
  }

  @Test(arguments: ["br, gzip, br", "zstd, zstd"])
  func `a coding with a large window is accepted only once`(_ codings: String) {
    #expect(Self.code([], codings) == .tooManyCodings)
  }

  @Test func `if a body has two codings, a truncation of the inner one is noticed too`() {
    let inner = EncodedBody.bytes(.gzip, Self.text)
    #expect(Self.code(EncodedBody.bytes(.brotli, Array(inner.dropLast(4))), "gzip, br") == .truncated)
  }

  @Test func `names of codings are case-insensitive, x-gzip is accepted, and identity means no coding`() throws {
    #expect(try Self.decode(EncodedBody.bytes(.gzip, Self.text), "X-GZip") == Self.text)
    #expect(try Self.decode(Self.text, "identity") == Self.text)
    #expect(ContentCodings("identity").isEmpty)
  }

  @Test func `an unknown coding and a sixth coding are refused`() {
    #expect(Self.code([1], "compress") == .unknownCoding)
    #expect(Self.code([1], "gzip, gzip, gzip, gzip, gzip, gzip") == .tooManyCodings)
    #expect(throws: ContentDecodingError.self) { try ContentDecoder(ContentCodings("gzip, compress")) }
  }

  @Test func `a window beyond 8 MB is refused, however much memory is available`() {
    #expect(Self.code(EncodedBody.bytes(.wideZstd, Self.text), "zstd") == .invalid)
  }

  @Test func `a step never writes more than the output has room for, whatever the input contains`() throws {
    for coding in [EncodedBody.Coding.gzip, .brotli, .zstd] {
      let encoded = EncodedBody.bytes(coding, Array(repeating: 0, count: 16 << 20))
      let decoder = try ContentDecoder(ContentCodings(coding.name))
      var steps = 0
      try encoded.withUnsafeBytes { bytes in
        var rest = bytes
        try withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { room in
          while try decoder.decode(&rest, into: room) == room.count { steps += 1 }
        }
      }
      #expect(steps == 256)
      try decoder.finish()
    }
  }
}
