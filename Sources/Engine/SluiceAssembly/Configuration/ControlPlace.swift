import SluiceJSON

/// Where an engine listens for commands while it runs; the key `control` of a configuration.
///
/// An ``Engine`` does not open a socket itself: `sluice run` does, or a program with a `ControlServer` of the module
/// `SluiceControl`.
public enum ControlPlace: Sendable, Hashable {
  /// A socket named after the process, in the user's folder for sockets.
  case userFolder
  case path(String)
}

extension Configuration {
  mutating func readControl(_ node: ConfigurationNode) throws(ConfigurationError) {
    if let isOn = node.value.bool {
      control = isOn ? .userFolder : nil
      return
    }
    guard let text = try node.resolvingReference().string else { throw node.mismatch("a path, true or false") }
    guard !text.isEmpty else { throw node.error("expected a path, found an empty string") }
    control = .path(node.source.resolve(text))
  }
}
