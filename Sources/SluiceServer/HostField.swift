/// The field `Host` of a request to a server that serves only this machine.
package enum HostField {
  /// Whether the field names this machine: by an address, as `localhost`, or by the name that the server was given. All
  /// other names are refused, because the author of a web page can make a name of their own resolve to this machine.
  /// The page could then send requests to this server.
  package static func isLocal(_ field: String, servedAs own: String) -> Bool {
    var name = field.lowercased()
    if name.hasPrefix("[") { return true }
    if let colon = name.lastIndex(of: ":") { name = String(name[..<colon]) }
    return name == "localhost" || name.hasSuffix(".localhost") || name == own.lowercased()
      || (!name.isEmpty && name.allSatisfy { $0.isNumber || $0 == "." })
  }
}
