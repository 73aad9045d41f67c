import SluiceLoop

/// The hosts that `no_proxy` certainly excludes from the proxy.
///
/// Libcurl's versions differ in how they read some entries: a range of addresses, the end of an address, a trailing dot.
/// This list uses only the entries that mean the same to all of them: `*` alone, an address, and a name, which also
/// excludes the names below it. For every other host, libcurl decides.
struct DirectHosts: Sendable {
  private let isAll: Bool
  /// In lower case, without the dots before them.
  private let entries: [String]

  /// - Parameter list: the value of `no_proxy`: entries that commas or spaces separate.
  init(_ list: String) {
    isAll = list == "*"
    entries = list.split { $0 == "," || $0 == " " }.map { $0.drop { $0 == "." }.lowercased() }.filter { !$0.isEmpty }
  }

  /// Whether the list excludes every host.
  var containsAll: Bool { isAll }

  /// - Parameter host: the host of an origin: a name in lower case, or an address.
  func contains(_ host: String) -> Bool {
    if isAll { return true }
    let isAddress = SystemNames.isAddress(host)
    return entries.contains { entry in
      host == entry || !isAddress && host.hasSuffix(entry) && host.dropLast(entry.count).hasSuffix(".")
    }
  }
}
