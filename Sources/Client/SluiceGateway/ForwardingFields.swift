import SluiceAssembly
import SluiceMessages
import SluiceServer

/// The fields that tell an upstream who the client is: `Forwarded` (RFC 7239) and its predecessors.
struct ForwardingFields {
  private let mode: ServeSettings.Forwarded
  /// What the client has sent; empty unless it is kept.
  private var forwarded = ""
  private var addresses = ""
  private var host = ""
  private var scheme = ""

  init(_ mode: ServeSettings.Forwarded) { self.mode = mode }

  /// Takes a field of the client. Returns false for a field that is passed on like any other.
  mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    guard mode != .none, Self.isForwarding(name) else { return false }
    switch name.count {
    case 9: keep(value, in: \.forwarded)
    case 15 where FieldSyntax.equals(name, "x-forwarded-for"): keep(value, in: \.addresses)
    case 16 where FieldSyntax.equals(name, "x-forwarded-host"): keep(value, in: \.host)
    case 17 where FieldSyntax.equals(name, "x-forwarded-proto"): keep(value, in: \.scheme)
    // With an underscore, it is dropped: some programs cannot tell it from a hyphen.
    default: break
    }
    return true
  }

  /// Whether the field names a client. An underscore counts as a hyphen.
  static func isForwarding(_ name: Span<UInt8>) -> Bool {
    switch name.count {
    case 9: FieldSyntax.equals(name, "forwarded")
    case 15: isSpelled(name, "x-forwarded-for")
    case 16: isSpelled(name, "x-forwarded-host")
    case 17: isSpelled(name, "x-forwarded-proto")
    default: false
    }
  }

  private static func isSpelled(_ name: Span<UInt8>, _ lowercase: String) -> Bool {
    let other = lowercase.utf8.span
    for index in name.indices {
      let byte = name[index] == UInt8(ascii: "_") ? UInt8(ascii: "-") : name[index]
      guard byte == other[index] || byte | 0x20 == other[index] && byte != UInt8(ascii: "-") else { return false }
    }
    return true
  }

  private mutating func keep(_ value: Span<UInt8>, in path: WritableKeyPath<Self, String>) {
    guard mode == .append, !value.isEmpty else { return }
    let text = String(decoding: [UInt8](copying: value), as: UTF8.self)
    self[keyPath: path] += self[keyPath: path].isEmpty ? text : ", \(text)"
  }

  /// Adds the fields of this hop.
  func append(to fields: inout HeaderFields, _ stream: ServerStream) {
    guard mode != .none else { return }
    let client = stream.peer?.host
    let named = stream.head.host
    // Bytes are appended, because interpolated strings would cost a tenth of a request.
    var value: [UInt8] = []
    value.reserveCapacity(128)
    Self.begin(&value, after: forwarded)
    value.append(contentsOf: "for=".utf8)
    Self.append(node: client ?? "unknown", to: &value)
    value.append(contentsOf: ";proto=http".utf8)
    if let named {
      value.append(contentsOf: ";host=".utf8)
      Self.append(host: named, to: &value)
    }
    fields.append("Forwarded".utf8.span, value.span)
    if let client {
      value.removeAll(keepingCapacity: true)
      Self.begin(&value, after: addresses)
      value.append(contentsOf: client.utf8)
      fields.append("X-Forwarded-For".utf8.span, value.span)
    }
    // These two have one value: what the first gateway has seen.
    if let named = host.isEmpty ? named : host { fields.append("X-Forwarded-Host", named) }
    fields.append("X-Forwarded-Proto", scheme.isEmpty ? "http" : scheme)
  }

  private static func begin(_ value: inout [UInt8], after list: String) {
    guard !list.isEmpty else { return }
    value.append(contentsOf: list.utf8)
    value.append(contentsOf: ", ".utf8)
  }

  /// An address as a node (RFC 7239 §6). An IPv6 address gets brackets, which must be quoted.
  private static func append(node address: String, to value: inout [UInt8]) {
    let isLong = address.utf8.contains(UInt8(ascii: ":"))
    if isLong { value.append(contentsOf: "\"[".utf8) }
    value.append(contentsOf: address.utf8)
    if isLong { value.append(contentsOf: "]\"".utf8) }
  }

  /// A host as a value: quoted unless it is a token. A host that was accepted has neither a quote nor a backslash.
  private static func append(host: String, to value: inout [UInt8]) {
    let isQuoted = !FieldSyntax.isToken(host.utf8.span)
    if isQuoted { value.append(UInt8(ascii: "\"")) }
    value.append(contentsOf: host.utf8)
    if isQuoted { value.append(UInt8(ascii: "\"")) }
  }
}
