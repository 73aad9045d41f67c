// Where a redirect leads (RFC 9110 §10.2.2).
extension HTTPURL {
  /// Resolves the value of a `Location` field against this URL.
  ///
  /// Relative references are resolved by RFC 3986 §5, dot segments are removed, and a target without a fragment keeps
  /// the fragment of this URL. A non-ASCII host becomes A-labels. Servers also send spaces and non-ASCII bytes, which
  /// no URL may have. Each of these bytes is percent-encoded, UTF-8 or not, so the server gets back the bytes that it
  /// sent.
  ///
  /// The following are refused: a value that is not a URL, an empty value, schemes other than http and https, and a
  /// target with user or password, which a client must treat as an error (RFC 9110 §4.2.4). Within one origin the user
  /// and password of this URL are kept.
  package func redirectTarget(_ location: Span<UInt8>, hosts: HostEncoder? = nil) throws(MessageError) -> HTTPURL {
    guard !location.isEmpty else { throw Self.failure(location, "it is empty") }
    guard location.count <= Self.maximumBytes else {
      throw Self.failure(location, "it has \(location.count) bytes; at most \(Self.maximumBytes) are accepted")
    }
    let target = try withoutUserInfo.reference(location, hosts: hosts)
    guard target.userInfo == nil else { throw Self.failure(location, "it has a user in it (RFC 9110 §4.2.4)") }
    let clean = target.removingDotSegments.inheritingFragment(of: self)
    return clean.origin == origin ? clean.withUserInfo(userInfo) : clean
  }

  /// Resolves a reference that a server has sent against this URL. Spaces and bytes that are not ASCII are
  /// percent-encoded.
  package func reference(_ text: Span<UInt8>, hosts: HostEncoder? = nil) throws(MessageError) -> HTTPURL {
    try RelativeReference.resolve(try IRIReference.uri(text, hosts, encodesSpaces: true), against: self)
  }

  /// The text after the `#`; nil if the URL has no `#`.
  public var fragment: String? {
    string.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(string[string.utf8.index(after: $0)...]) }
  }

  /// The URL without its fragment, as the server sees it.
  package var stringWithoutFragment: String {
    string.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(string[..<$0]) } ?? string
  }

  /// The same URL without user and password; this URL itself if it has neither.
  package var withoutUserInfo: HTTPURL { userInfo == nil ? self : withUserInfo(nil) }

  /// Returns the URL with other credentials; `userInfo` must be percent-encoded. Returns the unchanged URL if the
  /// result would be invalid.
  package func withUserInfo(_ userInfo: String?) -> HTTPURL {
    guard userInfo != self.userInfo else { return self }
    let scheme = origin.scheme.rawValue
    var rest = string.utf8.dropFirst(scheme.utf8.count + 3)
    if let own = self.userInfo { rest = rest.dropFirst(own.utf8.count + 1) }
    let credentials = userInfo.map { $0 + "@" } ?? ""
    return (try? HTTPURL("\(scheme)://\(credentials)\(Substring(rest))")) ?? self
  }

  /// Returns the URL with another path, which must be percent-encoded.
  package func withPath(_ path: String) throws(MessageError) -> HTTPURL {
    let utf8 = string.utf8
    let start = utf8.index(utf8.startIndex, offsetBy: pathRange.lowerBound)
    let end = utf8.index(start, offsetBy: pathRange.count)
    return try HTTPURL(string[..<start] + path + string[end...])
  }

  private var removingDotSegments: HTTPURL {
    guard path.utf8.contains(UInt8(ascii: ".")) else { return self }
    let clean = RelativeReference.removingDotSegments(path)
    return clean == path ? self : (try? withPath(clean)) ?? self
  }

  private func inheritingFragment(of base: HTTPURL) -> HTTPURL {
    guard fragment == nil, let inherited = base.fragment else { return self }
    return (try? HTTPURL("\(string)#\(inherited)")) ?? self
  }
}
