import Glibc
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
      /// The first `bits` bits of an address.
      case range([UInt8], bits: Int)
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
    let address = Self.address(origin.host)
    let name = Array(origin.host.utf8)
    return entries.contains { entry in
      guard entry.port == nil || entry.port == origin.port else { return false }
      switch entry.kind {
      case .range(let range, let bits): return address.map { Self.isIn($0, range, bits) } ?? false
      case .name(let entry): return address == nil && Self.isBelow(name, entry)
      }
    }
  }

  private static func entry(_ text: String) -> Entry? {
    var text = text
    if let slash = text.firstIndex(of: "/") {
      guard let range = address(unbracketed(String(text[..<slash]))), let bits = Int(text[text.index(after: slash)...]),
        (0...range.count * 8).contains(bits)
      else { return nil }
      return Entry(kind: .range(range, bits: bits), port: nil)
    }
    if let range = address(text) { return Entry(kind: .range(range, bits: range.count * 8), port: nil) }
    var port: UInt16?
    if let colon = text.lastIndex(of: ":"), text.last != "]" {
      guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
      port = number
      text = String(text[..<colon])
    }
    if let range = address(unbracketed(text)) { return Entry(kind: .range(range, bits: range.count * 8), port: port) }
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

  private static func isIn(_ address: [UInt8], _ range: [UInt8], _ bits: Int) -> Bool {
    guard address.count == range.count else { return false }
    for (index, (byte, other)) in zip(address, range).enumerated() {
      let rest = bits - index * 8
      if rest <= 0 { return true }
      let mask = rest >= 8 ? 0xFF : ~(UInt8(0xFF) >> UInt8(rest))
      guard byte & mask == other & mask else { return false }
    }
    return true
  }

  /// The bytes of a numeric address: 4 for IPv4, 16 for IPv6. An IPv4 address that is written as IPv6 has 4.
  private static func address(_ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes[..<4]) }
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    return isMapped ? Array(bytes[12...]) : bytes
  }
}
