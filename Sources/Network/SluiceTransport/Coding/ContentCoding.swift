/// A content coding that this module decodes (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
  /// One or more gzip members, one after the other (RFC 1952 §2.2).
  case gzip
  /// The zlib format (RFC 1950). Bare deflate data (RFC 1951) is accepted too: many servers send it under this name.
  case deflate
  case brotli = "br"
  case zstd

  /// The value of `Accept-Encoding`: every coding of this module.
  package static let acceptEncoding = "deflate, gzip, br, zstd"

  /// - Parameter name: in lower case.
  init?(name: String) {
    // The older name `x-gzip` means the same (RFC 9110 §8.4.1.3).
    self.init(rawValue: name == "x-gzip" ? "gzip" : name)
  }

  func makeDecoder() throws(ContentDecodingError) -> any StreamDecoder {
    switch self {
    case .gzip, .deflate: InflateDecoder(self)
    case .brotli: try BrotliDecoder()
    case .zstd: try ZstdDecoder()
    }
  }
}
