import SluiceMessages

/// The hosts that `no_proxy` excludes from the proxy.
///
/// Commas and blanks separate the entries. `*` alone excludes every host. An entry is a name, which also excludes the
/// names below it; an address; or a range of addresses such as `10.0.0.0/8`. A name or an address can have a port.
struct DirectHosts: Sendable {
  private struct Entry: Sendable {
    enum Kind: Sendable {
      /// In lower case, without a dot before or after it.
      case name([UInt8])
      case range(AddressRange)
    }

    let kind: Kind
    /// Nil fits every port.
    let port: UInt16?
  }

  /// Whether the list excludes every host.
  let containsAll: Bool
  private let entries: [Entry]

  /// - Parameter list: the value of `no_proxy`. Entries that are not valid exclude no host.
  init(_ list: String) {
    containsAll = list == "*"
    entries = list.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { Self.entry(String($0)) }
  }

  func contains(_ origin: Origin) -> Bool {
    if containsAll { return true }
    guard !entries.isEmpty else { return false }
    let isAddress = AddressRange(origin.host) != nil
    let name = Array(origin.host.utf8)
    return entries.contains { entry in
      guard entry.port == nil || entry.port == origin.port else { return false }
      switch entry.kind {
      case .range(let range): return range.contains(origin.host)
      case .name(let entry): return !isAddress && Self.isBelow(name, entry)
      }
    }
  }

  private static func entry(_ text: String) -> Entry? {
    var text = text
    if let slash = text.firstIndex(of: "/") {
      return AddressRange(unbracketed(String(text[..<slash])) + text[slash...]).map {
        Entry(kind: .range($0), port: nil)
      }
    }
    if let range = AddressRange(text) { return Entry(kind: .range(range), port: nil) }
    var port: UInt16?
    if let colon = text.lastIndex(of: ":"), text.last != "]" {
      guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
      port = number
      text = String(text[..<colon])
    }
    if let range = AddressRange(unbracketed(text)) { return Entry(kind: .range(range), port: port) }
    var name = text.utf8.map(\.asciiLowercased)[...]
    if name.first == UInt8(ascii: ".") { name.removeFirst() }
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    return name.isEmpty ? nil : Entry(kind: .name(Array(name)), port: port)
  }

  private static func unbracketed(_ text: String) -> String {
    text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
  }

  private static func isBelow(_ host: [UInt8], _ name: [UInt8]) -> Bool {
    guard host.count >= name.count, host.suffix(name.count) == name[...] else { return false }
    return host.count == name.count || host[host.count - name.count - 1] == UInt8(ascii: ".")
  }
}
