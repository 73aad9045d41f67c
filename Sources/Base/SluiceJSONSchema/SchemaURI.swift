import SluiceMessages

/// A URI reference, such as the value of `$id` or `$ref`, split into its five parts (RFC 3986 appendix B). A part that
/// is present keeps its delimiter.
struct SchemaURI {
  private var scheme = ""
  private var authority = ""
  private var path = ""
  private var query = ""
  private var fragment = ""

  init(_ text: String) {
    var rest = text.utf8[...]
    func take(until delimiters: String) -> String {
      let part = rest.prefix { !delimiters.utf8.contains($0) }
      rest = rest[part.endIndex...]
      return String(Substring(part))
    }
    if RelativeReference.hasScheme(text) {
      scheme = take(until: ":") + ":"
      rest = rest.dropFirst()
    }
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      authority = "//" + take(until: "/?#")
    }
    path = take(until: "?#")
    query = take(until: "#")
    fragment = take(until: "")
  }

  /// The part that names a document: the URI without its fragment.
  var resource: String { scheme + authority + path + query }

  var text: String { resource + fragment }

  /// The text after the `#`, with escapes decoded; empty without a fragment.
  var fragmentText: String { String(decoding: PercentCoding.decoded(fragment.utf8.dropFirst().span), as: UTF8.self) }

  /// The target of this reference against an absolute base (RFC 3986 §5.2).
  func resolved(against base: SchemaURI) -> SchemaURI {
    guard scheme.isEmpty else { return self }
    var target = self
    target.scheme = base.scheme
    guard authority.isEmpty else { return target }
    target.authority = base.authority
    target.path = path.isEmpty ? base.path : base.merged(path)
    if path.isEmpty, query.isEmpty { target.query = base.query }
    return target
  }

  private func merged(_ other: String) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { String(path[...$0]) } ?? (authority.isEmpty ? "" : "/")
    let merged = other.hasPrefix("/") ? other : folder + other
    return merged.hasPrefix("/") ? RelativeReference.removingDotSegments(merged) : merged
  }
}
