import CPSL

/// The list of domains under which anyone can register names (publicsuffix.org), such as `com` and `co.uk`. A cookie
/// for such a domain must be refused, because all hosts below it would get the cookie.
package struct PublicSuffixes: Sendable {
  /// Whether a domain, in lower case and in A-labels, is a public suffix. A domain with one label always is a public
  /// suffix.
  let contains: @Sendable (String) -> Bool
  /// Whether a list is available.
  let isKnown: Bool

  /// The value that is used if there is no list. Every domain then counts as a public suffix.
  package static let unknown = PublicSuffixes(contains: { _ in true }, isKnown: false)

  /// A list of these domains, for tests.
  package static func of(_ domains: Set<String>) -> PublicSuffixes {
    PublicSuffixes(contains: { domains.contains($0) || !$0.utf8.contains(CookieBytes.dot) }, isKnown: true)
  }

  /// The list of libpsl: the file that the system updates, or the copy in the library if that is newer. The file is
  /// read once per process.
  package static let system: PublicSuffixes = {
    let list = SystemList()
    return list.isUsable ? PublicSuffixes(contains: { list.contains($0) }, isKnown: true) : unknown
  }()
}

/// `Sendable` is unchecked because of the pointer. It is safe because libpsl only reads the list, and the list is never
/// freed.
private final class SystemList: @unchecked Sendable {
  private let list: OpaquePointer?

  init() { list = psl_latest(nil) ?? psl_builtin() }

  /// Without data, libpsl only knows the rule that each last label is a suffix. A suffix of two labels therefore shows
  /// whether there is data.
  var isUsable: Bool {
    list != nil && psl_is_public_suffix2(list, "co.uk", PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1
  }

  func contains(_ domain: String) -> Bool { psl_is_public_suffix(list, domain) != 0 }
}
