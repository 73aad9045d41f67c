/// The codings of one body, in the order in which they were applied, as `Content-Encoding` lists them.
package struct ContentCodings: Sendable, Hashable {
  /// A body with more codings than this is refused. Each coding takes memory, and multiplies the size to which a few
  /// bytes can expand.
  package static let maximumCount = 5
  /// An error quotes at most this many bytes of an unknown name.
  private static let quotedCharacters = 40

  package private(set) var codings: [ContentCoding] = []
  /// The first name that is not a ``ContentCoding``.
  private(set) var unknownName: String?
  /// The number of listed codings, including unknown ones.
  private var count = 0
  /// Whether some of the codings come from a `Transfer-Encoding`.
  package var hasTransferCodings = false

  package init() {}

  /// The codings that a field value lists; `identity` means no coding (RFC 9110 §12.5.3).
  package init(_ list: String) { append(list) }

  package var isEmpty: Bool { count == 0 }
  /// Whether a listed coding cannot be decoded.
  package var hasUnknown: Bool { unknownName != nil }

  /// Adds the codings of one more field value, because a field can occur several times.
  package mutating func append(_ list: String) {
    for part in list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
      let name = part.lowercased()
      // "chunked" frames the message; the reader has already removed it.
      if name == "identity" || name == "none" || name == "chunked" { continue }
      count += 1
      guard count <= Self.maximumCount else { continue }
      if let coding = ContentCoding(name: name) {
        codings.append(coding)
      } else if unknownName == nil {
        unknownName = String(name.prefix(Self.quotedCharacters))
      }
    }
  }

  /// Adds codings that were applied after those in this list.
  package mutating func append(_ others: ContentCodings) {
    codings += others.codings
    count += others.count
    unknownName = unknownName ?? others.unknownName
  }

  /// - Throws: an error if a coding is unknown, or if there are too many codings.
  package func check() throws(ContentDecodingError) {
    guard count <= Self.maximumCount else {
      throw ContentDecodingError(.tooManyCodings, "it has \(count) codings; at most \(Self.maximumCount) are accepted")
    }
    for coding in [ContentCoding.brotli, .zstd] where codings.count(where: { $0 == coding }) > 1 {
      throw ContentDecodingError(
        .tooManyCodings, "it has the coding \(coding.rawValue) more than once, and each takes megabytes of memory")
    }
    if let unknownName {
      let known = ContentCoding.allCases.map(\.rawValue).joined(separator: ", ")
      throw ContentDecodingError(.unknownCoding, "unknown coding \"\(unknownName)\"; known codings: \(known)")
    }
  }
}
