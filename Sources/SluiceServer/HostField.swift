/// The field `Host` of a request to a server that is for this machine alone.
package enum HostField {
  /// Whether it names this machine by an address, as `localhost`, or as the server was named. Any page in a browser can
  /// send requests to this machine by a name of its own that leads here; such a name is refused.
  package static func isLocal(_ field: String, servedAs own: String) -> Bool {
    var name = field.lowercased()
    if name.hasPrefix("[") { return true }
    if let colon = name.lastIndex(of: ":") { name = String(name[..<colon]) }
    return name == "localhost" || name.hasSuffix(".localhost") || name == own.lowercased()
      || (!name.isEmpty && name.allSatisfy { $0.isNumber || $0 == "." })
  }
}
