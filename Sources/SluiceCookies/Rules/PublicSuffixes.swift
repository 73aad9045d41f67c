import CPSL

/// The list of domains under which anyone can register names (publicsuffix.org), such as `com` and `co.uk`. A cookie
/// must not be for all hosts below such a domain.
package struct PublicSuffixes: Sendable {
  /// Whether a domain, in lower case and in A-labels, is a public suffix. A domain of one label always is.
  let contains: @Sendable (String) -> Bool
  /// Whether there is a list at all.
  let isKnown: Bool

  /// No list: every domain could be a public suffix.
  package static let unknown = PublicSuffixes(contains: { _ in true }, isKnown: false)

  /// A list of these domains, for tests.
  package static func of(_ domains: Set<String>) -> PublicSuffixes {
    PublicSuffixes(contains: { domains.contains($0) || !$0.utf8.contains(CookieBytes.dot) }, isKnown: true)
  }

  /// The list of libpsl: the newer one of the file that the system updates and the copy in the library. Reads the file
  /// once in the life of the process.
  package static let system: PublicSuffixes = {
    let list = SystemList()
    return list.isUsable ? PublicSuffixes(contains: { list.contains($0) }, isKnown: true) : unknown
  }()
}

/// Unchecked because the compiler does not know the pointer: libpsl only reads the list, which is never freed.
private final class SystemList: @unchecked Sendable {
  private let list: OpaquePointer?

  init() { list = psl_latest(nil) ?? psl_builtin() }

  /// Without data, libpsl knows only the rule that each last label is a suffix, so this asks for a suffix of two
  /// labels.
  var isUsable: Bool {
    list != nil && psl_is_public_suffix2(list, "co.uk", PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1
  }

  func contains(_ domain: String) -> Bool { psl_is_public_suffix(list, domain) != 0 }
}
