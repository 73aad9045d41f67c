package import SluicePluginHost

/// Examines a library before any of its code runs.
package enum Preflight {
  /// The name of this machine, in the form of ``LibraryFacts/machine``.
  package static var hostMachine: String { MachineName.of(MachineName.host) }

  /// Reads the facts, and refuses a library that this host cannot use.
  package static func facts(of image: LibraryImage, for host: HostOffer = HostOffer()) throws(PluginError)
    -> LibraryFacts
  {
    let facts = try LibraryFacts(of: image)
    if let refusal = facts.refusal(by: host, at: image.path) { throw refusal }
    return facts
  }
}
