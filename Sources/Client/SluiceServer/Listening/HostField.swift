import SluiceMessages

/// The field `Host` of a request to a server that serves only this machine.
package enum HostField {
  /// Whether the field is an address, `localhost` or a name below it, or the name that the server was given (`own`).
  ///
  /// All other names are refused: the owner of a domain can make its name resolve to the address of this machine. A web
  /// page of that domain could then send requests to this server.
  package static func isLocal(_ field: String, servedAs own: String) -> Bool {
    let bytes = field.utf8.span
    guard bytes.count > 0 else { return false }
    if bytes[0] == UInt8(ascii: "[") { return true }
    let end = bytes.indices.first { bytes[$0] == UInt8(ascii: ":") } ?? bytes.count
    let name = bytes.extracting(0..<end)
    if name.isEmpty { return false }
    if name.indices.allSatisfy({ name[$0] == UInt8(ascii: ".") || (0x30...0x39).contains(name[$0]) }) { return true }
    let isBelow = name.count > 10 && FieldSyntax.equals(name.extracting(name.count - 10..<name.count), ".localhost")
    return FieldSyntax.equals(name, "localhost") || isBelow || FieldSyntax.equals(name, text: own.lowercased())
  }
}
