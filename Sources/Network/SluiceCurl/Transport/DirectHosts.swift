import SluiceLoop
import SluiceMessages

/// The hosts that `no_proxy` certainly excludes from the proxy.
///
/// Libcurl's versions differ in how they read some entries: ranges of addresses, spellings of IPv6 addresses, dots
/// before and after a name, entries that only a space separates. This list uses only the entries that mean the same to
/// them: `*` alone, an IPv4 address, and a name with at most one dot before it, which also excludes the names below it.
/// For every other host, libcurl decides.
struct DirectHosts: Sendable {
  /// Whether the list excludes every host.
  let containsAll: Bool
  /// In lower case.
  private let entries: [[UInt8]]

  /// - Parameter list: the value of `no_proxy`: entries that commas separate. A blank that is not next to a comma ends
  ///   the list, as in newer versions of libcurl.
  init(_ list: String) {
    containsAll = list == "*"
    var entries: [[UInt8]] = []
    for part in list.utf8.split(separator: UInt8(ascii: ",")) {
      let entry = part.split(separator: UInt8(ascii: " "))
      guard entry.count <= 1, !part.contains(UInt8(ascii: "\t")) else { break }
      if let entry = entry.first { entries.append(entry.map(\.asciiLowercased)) }
    }
    self.entries = entries
  }

  /// - Parameter host: the host of an origin: a name in lower case, or an address.
  func contains(_ host: String) -> Bool {
    if containsAll { return true }
    guard !host.utf8.contains(UInt8(ascii: ":")) else { return false }
    let isAddress = SystemNames.isAddress(host)
    let host = Array(host.utf8)
    return entries.contains { entry in
      if isAddress { return host == entry }
      let name = entry.first == UInt8(ascii: ".") ? entry.dropFirst() : entry[...]
      guard !name.isEmpty, host.count >= name.count, host.suffix(name.count) == name else { return false }
      return host.count == name.count || host[host.count - name.count - 1] == UInt8(ascii: ".")
    }
  }
}
