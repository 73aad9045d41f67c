/// An absolute `http` or `https` URL. The check is so strict that every later reader must understand the URL in the
/// same way.
///
/// The text is parsed by RFC 3986; spaces, controls and backslashes are refused instead of being repaired, since two
/// parsers that repair differently could send a secret to the wrong host. An IRI is converted by RFC 3987 first. The
/// fragment is kept in ``string`` and never sent.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  /// Stored behind one reference, so that a copy of a URL, and of a request, costs one retain.
  final class Parts: Sendable {
    let string: String
    let origin: Origin
    let userInfo: String?
    let pathRange: Range<Int>
    let queryRange: Range<Int>?

    init(_ string: String, _ origin: Origin, _ userInfo: String?, _ pathRange: Range<Int>, _ queryRange: Range<Int>?) {
      self.string = string
      self.origin = origin
      self.userInfo = userInfo
      self.pathRange = pathRange
      self.queryRange = queryRange
    }
  }

  let parts: Parts

  /// - Parameters: the ranges are offsets into the UTF-8 of the string.
  init(string: String, origin: Origin, userInfo: String?, pathRange: Range<Int>, queryRange: Range<Int>?) {
    parts = Parts(string, origin, userInfo, pathRange, queryRange)
  }

  /// The URL as it was given, or the URL that the given IRI was converted to; always ASCII.
  public var string: String { parts.string }

  /// Where the URL leads; the port is the scheme's default if the URL names no port.
  public var origin: Origin { parts.origin }

  /// Whether the URL leads to this origin, and its host is looked up in the same form. Does not copy the origin.
  package func isAt(_ origin: Origin) -> Bool {
    parts.origin.port == origin.port && parts.origin.scheme == origin.scheme && parts.origin.host == origin.host
      && parts.origin.hasFinalDot == origin.hasFinalDot
  }

  /// `user:password`, still percent-encoded; nil if the URL has neither.
  public var userInfo: String? { parts.userInfo }

  var pathRange: Range<Int> { parts.pathRange }
  var queryRange: Range<Int>? { parts.queryRange }

  /// The path, percent-encoded as given; `/` if the URL has none.
  public var path: String { pathRange.isEmpty ? "/" : text(pathRange) }

  /// ``path`` as a text and a range of the UTF-8 of this text, so that the path is not copied.
  package var pathSlice: (string: String, range: Range<Int>) { pathRange.isEmpty ? ("/", 0..<1) : (string, pathRange) }

  /// The text after the `?`, percent-encoded as given.
  public var query: String? { queryRange.map { text($0) } }

  /// Path and query, as in the request line (RFC 9112 §3.2.1).
  package var requestTarget: String { query.map { "\(path)?\($0)" } ?? path }

  /// The range of path and query in the UTF-8 of ``string``. If the URL has no path, the range is empty or begins with
  /// the `?`.
  package var targetRange: Range<Int> { pathRange.lowerBound..<(queryRange ?? pathRange).upperBound }

  /// The host in lower case, without brackets and without a final dot; a non-ASCII name as A-labels.
  public var host: String { origin.host }

  /// The same as ``string``, including user and password; ``Redactor/url(_:)`` makes a form that can be shown.
  public var description: String { string }

  private func text(_ range: Range<Int>) -> String {
    let utf8 = string.utf8
    let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
    return String(string[start..<utf8.index(start, offsetBy: range.count)])
  }

  /// Compares ``string``, including the fragment and without normalization: `http://a` and `http://a/` differ.
  public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
    left.parts === right.parts || left.string == right.string
  }
  /// Hashes only ``string``, because equal URLs have equal strings.
  public func hash(into hasher: inout Hasher) { hasher.combine(string) }
}
