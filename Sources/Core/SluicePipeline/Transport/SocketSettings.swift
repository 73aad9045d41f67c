/// Settings that replace what the URL and the system say about where and how sockets are connected. They do not change
/// the URL, `Host` or TLS.
package struct SocketSettings: Sendable, Hashable {
  /// A host and a port.
  package struct Place: Sendable, Hashable {
    /// A name or an address, in lower case. An IPv6 address has no brackets. A name keeps its final dot: a name with a
    /// final dot is another place than the name without it.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
      self.host = host
      self.port = port
    }
  }

  package enum AddressFamily: Sendable { case any, ipv4, ipv6 }

  /// A rule that leads the connections for one place to another place.
  package struct Detour: Sendable, Hashable {
    /// Nil fits every host, or every port.
    package var host: String?
    package var port: UInt16?
    /// Nil keeps the host, or the port.
    package var toHost: String?
    package var toPort: UInt16?

    package init(host: String?, port: UInt16?, toHost: String?, toPort: UInt16?) {
      self.host = host
      self.port = port
      self.toHost = toHost
      self.toPort = toPort
    }
  }

  /// The local end of a socket.
  package enum Source: Sendable, Hashable {
    /// A network interface (`SO_BINDTODEVICE`).
    case interface(String)
    /// A numeric address of this machine.
    case address(String)
  }

  /// Which addresses of a name are used.
  package var family = AddressFamily.any
  /// The numeric addresses of places whose names are not looked up. An empty host means every host.
  package var addresses: [Place: [String]] = [:]
  /// The first detour that fits is used.
  package var detours: [Detour] = []
  /// Nil lets the system choose.
  package var source: Source?

  package init() {}

  /// Where a connection to a place leads.
  package func destination(of place: Place) -> Place {
    let detour = detours.first { ($0.host ?? place.host) == place.host && ($0.port ?? place.port) == place.port }
    return Place(host: detour?.toHost ?? place.host, port: detour?.toPort ?? place.port)
  }

  /// The addresses that the settings give for a place; nil if its name is looked up.
  package func addresses(of place: Place) -> [String]? {
    addresses[place] ?? addresses[Place(host: "", port: place.port)]
  }

  package var isDefault: Bool { self == SocketSettings() }
}
