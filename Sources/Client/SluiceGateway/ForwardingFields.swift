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
    guard Self.isForwarding(name) else { return false }
    // Names with an underscore are dropped: some programs cannot tell it from a hyphen.
    if Self.hasUnderscore(name) { return true }
    guard mode != .none else { return false }
    switch name.count {
    case 9: keep(value, in: \.forwarded)
    case 15 where FieldSyntax.equals(name, "x-forwarded-for"): keep(value, in: \.addresses)
    case 16 where FieldSyntax.equals(name, "x-forwarded-host"): keep(value, in: \.host)
    case 17 where FieldSyntax.equals(name, "x-forwarded-proto"): keep(value, in: \.scheme)
    // Others, such as X-Forwarded-Port and Client-Cert (RFC 9440), say what only a gateway can know.
    default: return mode == .replace
    }
    return true
  }

  /// Whether the field says who the client is and what it has asked for. An underscore counts as a hyphen.
  static func isForwarding(_ name: Span<UInt8>) -> Bool {
    switch name.count {
    case 9: FieldSyntax.equals(name, "forwarded")
    case 11: isSpelled(name, "client-cert")
    case 17 where isSpelled(name, "client-cert-chain"): true
    case 13...: isSpelled(name.extracting(first: 12), "x-forwarded-")
    default: false
    }
  }

  private static func hasUnderscore(_ name: Span<UInt8>) -> Bool {
    name.indices.contains { name[$0] == UInt8(ascii: "_") }
  }

  /// Whether the name is the given one, in upper or lower case, with hyphens or underscores.
  static func isSpelled(_ name: Span<UInt8>, _ lowercase: String) -> Bool {
    let other = lowercase.utf8.span
    guard name.count == other.count else { return false }
    for index in name.indices {
      let byte = name[index]
      let isEqual =
        byte == other[index] || byte == UInt8(ascii: "_") && other[index] == UInt8(ascii: "-")
        || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte && byte | 0x20 == other[index]
      if !isEqual { return false }
    }
    return true
  }

  private mutating func keep(_ value: Span<UInt8>, in path: WritableKeyPath<Self, String>) {
    guard mode == .append, !value.isEmpty else { return }
    let text = String(copying: value)
    self[keyPath: path] += self[keyPath: path].isEmpty ? text : ", \(text)"
  }

  /// The fields of a connection whose client names the same host in each request, and sends no such fields itself.
  private final class Memo {
    let host: String?
    let fields: HeaderFields

    init(_ host: String?, _ fields: HeaderFields) { (self.host, self.fields) = (host, fields) }
  }

  /// Adds the fields of this hop.
  func append(to fields: inout HeaderFields, _ stream: ServerStream) {
    guard mode != .none else { return }
    guard forwarded.isEmpty, addresses.isEmpty, host.isEmpty, scheme.isEmpty else { return make(&fields, stream) }
    let memo: Memo
    if let known = stream.memo as? Memo, known.host == stream.head.host {
      memo = known
    } else {
      var made = HeaderFields()
      make(&made, stream)
      memo = Memo(stream.head.host, made)
      stream.memo = memo
    }
    let own = memo.fields
    let bytes = own.buffer.span
    for index in own.indices {
      fields.append(bytes.extracting(own.nameRange(at: index)), bytes.extracting(own.valueRange(at: index)))
    }
  }

  private func make(_ fields: inout HeaderFields, _ stream: ServerStream) {
    let client = stream.client.peer?.host
    let isSecure = stream.client.isSecure == true
    let named = stream.head.host
    // Bytes are appended, because interpolated strings would cost a tenth of a request.
    var value: [UInt8] = []
    value.reserveCapacity(128)
    Self.begin(&value, after: forwarded)
    value.append("for=")
    Self.append(node: client ?? "unknown", to: &value)
    value.append(isSecure ? ";proto=https" : ";proto=http")
    if let named {
      value.append(";host=")
      Self.append(host: named, to: &value)
    }
    fields.append("Forwarded".utf8.span, value.span)
    if let client {
      value.removeAll(keepingCapacity: true)
      Self.begin(&value, after: addresses)
      value.append(copying: client.utf8.span)
      fields.append("X-Forwarded-For".utf8.span, value.span)
    }
    // These two have one value: what the first gateway has seen.
    if let named = host.isEmpty ? named : host { fields.append("X-Forwarded-Host", named) }
    fields.append("X-Forwarded-Proto", scheme.isEmpty ? (isSecure ? "https" : "http") : scheme)
  }

  private static func begin(_ value: inout [UInt8], after list: String) {
    guard !list.isEmpty else { return }
    value.append(copying: list.utf8.span)
    value.append(", ")
  }

  /// An address as a node (RFC 7239 §6). An IPv6 address gets brackets, which must be quoted.
  private static func append(node address: String, to value: inout [UInt8]) {
    let isLong = address.utf8.contains(UInt8(ascii: ":"))
    if isLong { value.append("\"[") }
    value.append(copying: address.utf8.span)
    if isLong { value.append("]\"") }
  }

  /// A host as a value: quoted unless it is a token. A host that was accepted has neither a quote nor a backslash.
  private static func append(host: String, to value: inout [UInt8]) {
    let isQuoted = !FieldSyntax.isToken(host.utf8.span)
    if isQuoted { value.append(UInt8(ascii: "\"")) }
    value.append(copying: host.utf8.span)
    if isQuoted { value.append(UInt8(ascii: "\"")) }
  }
}
