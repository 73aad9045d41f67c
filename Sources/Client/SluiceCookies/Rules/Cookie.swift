/// A cookie as a jar keeps it (draft-ietf-httpbis-rfc6265bis-22 §5.7).
///
/// Name and value are bytes on the wire. ``name`` and ``value`` show bytes that are not UTF-8 as U+FFFD, but a request
/// gets the original bytes.
public struct Cookie: Sendable, Hashable {
  /// The sites from whose pages a browser would send the cookie (§5.6.7). Has no effect here: a program has no site, so
  /// each request counts as a request from the cookie's own site.
  public enum SameSite: String, Sendable, Hashable, CaseIterable {
    case strict = "Strict"
    case lax = "Lax"
    case none = "None"
    /// The server did not set the attribute.
    case unspecified = "Default"
  }

  package let nameBytes: [UInt8]
  package let valueBytes: [UInt8]
  /// The host, in lower case and without a dot at either end.
  public internal(set) var domain: String
  /// Whether only ``domain`` itself gets the cookie. If not, the hosts below it get the cookie too.
  public internal(set) var isHostOnly = true
  /// Begins with `/`; percent-encoded as the server wrote it.
  public internal(set) var path: String
  /// Whether the cookie is sent only over https.
  public internal(set) var isSecure = false
  /// Whether the scripts of a page cannot see the cookie. Has no effect here.
  public internal(set) var isHTTPOnly = false
  /// See ``SameSite-swift.enum``.
  public internal(set) var sameSite = SameSite.unspecified
  /// When the cookie expires, in seconds since 1970-01-01T00:00:00Z; nil for a session cookie, which ends with the
  /// program. At most 400 days after the response that set it.
  public internal(set) var expires: Int64?

  /// The number of the cookie in the order in which the cookies of a store were created.
  var creation: UInt64 = 0
  /// The number of the last use of the cookie. All uses of cookies of a store are counted together.
  var lastAccess: UInt64 = 0

  init(name: [UInt8], value: [UInt8], domain: String, path: String) {
    nameBytes = name
    valueBytes = value
    self.domain = domain
    self.path = path
  }

  /// The name. If it is empty, only the value is sent.
  public var name: String { String(decoding: nameBytes, as: UTF8.self) }
  /// A secret in most cases.
  public var value: String { String(decoding: valueBytes, as: UTF8.self) }

  /// Whether the cookie has expired at a moment, in seconds since 1970.
  package func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

  /// Compares the properties that a server can set, but neither the order of creation nor the last use.
  public static func == (left: Cookie, right: Cookie) -> Bool {
    left.key == right.key && left.valueBytes == right.valueBytes && left.isSecure == right.isSecure
      && left.isHTTPOnly == right.isHTTPOnly && left.sameSite == right.sameSite && left.expires == right.expires
  }

  /// Combines name, domain and path.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Cookie {
  /// Identifies a cookie: a store has at most one cookie with each key (§5.7 step 23).
  package struct Key: Sendable, Hashable {
    let name: [UInt8]
    let domain: String
    let isHostOnly: Bool
    let path: String
  }

  package var key: Key { Key(name: nameBytes, domain: domain, isHostOnly: isHostOnly, path: path) }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible {
  /// Name, domain and path; never the value.
  public var description: String { "\(name)=REDACTED for \(isHostOnly ? "" : "*.")\(domain)\(path)" }
  /// The same as ``description``.
  public var debugDescription: String { description }
}
