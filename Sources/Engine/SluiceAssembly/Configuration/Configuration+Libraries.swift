import SluicePipeline
package import SluicePluginHost

extension Configuration {
  /// The paths of the libraries, each only once, in the order of the plugins.
  package var libraries: [String] {
    plugins.compactMap(\.library).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The names of the instances of one library.
  package func plugins(of library: String) -> [String] { plugins.filter { $0.library == library }.map(\.name) }

  /// The hazards that a library is allowed. These are the hazards that any of its plugins is allowed, because the
  /// library is loaded once for all of them.
  package func allowed(of library: String) -> Set<LibraryHazard> {
    plugins.filter { $0.library == library }.reduce(into: []) { $0.formUnion($1.allowed) }
  }

  /// The keys that an engine reads only when it starts, and whose values differ between the two configurations.
  package func fixedDifferences(from other: Configuration) -> [String] {
    let (new, old) = (transport, other.transport)
    let differences: [(String, Bool)] = [
      ("transport.loops", new.loops != old.loops),
      ("transport.connectTimeout", new.connectTimeout != old.connectTimeout),
      ("transport.maxConnectionsPerHost", new.maximumConnectionsPerHost != old.maximumConnectionsPerHost),
      (
        "transport.httpVersion",
        new.httpVersion != old.httpVersion || new.assumesHTTP2 != old.assumesHTTP2
      ),
      ("transport limits for heads", new.responseLimits != old.responseLimits),
      ("transport.maxRequestBytes", new.maximumRequestBytes != old.maximumRequestBytes),
      ("transport.proxy", new.proxy != old.proxy), ("transport.tls", new.tls != old.tls),
      ("transport.userAgent", new.userAgent != old.userAgent),
      ("transport.decode", new.decodesContent != old.decodesContent),
      ("transport.unixSocket", new.unixSocket != old.unixSocket), ("store", store != other.store),
      ("control", control != other.control), ("limits", limits != other.limits),
      ("update", update != other.update), ("serve", isShared && serve != other.serve),
    ]
    return differences.filter(\.1).map(\.0)
  }
}

extension PluginConfiguration {
  /// The path of the library; nil for a built-in, and for code of the program.
  package var library: String? {
    if case .library(let path) = source { return path }
    return nil
  }
}
