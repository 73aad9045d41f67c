/// The field `Host` of a request to a server that serves only this machine.
package enum HostField {
  /// Whether the field names this machine: by an address, as `localhost`, or by the name that the server was given. Any
  /// other name is refused: the author of a web page can make a name resolve to this machine, and the page could then
  /// send requests to it.
  package static func isLocal(_ field: String, servedAs own: String) -> Bool {
    var name = field.lowercased()
    if name.hasPrefix("[") { return true }
    if let colon = name.lastIndex(of: ":") { name = String(name[..<colon]) }
    return name == "localhost" || name.hasSuffix(".localhost") || name == own.lowercased()
      || (!name.isEmpty && name.allSatisfy { $0.isNumber || $0 == "." })
  }
}
