/// The field `Host` of a request to a server that serves only this machine.
package enum HostField {
  /// Whether the field is an address, `localhost` or a name below it, or the name that the server was given (`own`).
  ///
  /// All other names are refused: the owner of a domain can make its name resolve to the address of this machine. A web
  /// page of that domain could then send requests to this server.
  package static func isLocal(_ field: String, servedAs own: String) -> Bool {
    var name = field.lowercased()
    if name.hasPrefix("[") { return true }
    if let colon = name.lastIndex(of: ":") { name = String(name[..<colon]) }
    return name == "localhost" || name.hasSuffix(".localhost") || name == own.lowercased()
      || (!name.isEmpty && name.allSatisfy { $0.isNumber || $0 == "." })
  }
}
