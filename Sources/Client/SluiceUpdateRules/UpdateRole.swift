import SluiceMessages

/// A role of the documents of a repository. Each role has its own keys.
///
/// The model is the specification of The Update Framework (TUF). TUF's roles `targets` and `snapshot` are one document
/// here, the release.
package enum UpdateRole: String, Sendable, Hashable, CaseIterable {
  /// Names the keys of all roles.
  case root
  /// Names every plugin of a channel, by hash.
  case release
  /// Names the newest release of a channel; expires soon.
  case timestamp

  /// The maximum size of a document that a client reads, in bytes of its file.
  package var limitBytes: Int {
    switch self {
    case .root: 512 << 10
    case .release: 4 << 20
    case .timestamp: 64 << 10
    }
  }

  /// The type of a role's documents. A signature covers the type together with the payload, so that a document of one
  /// role or channel is never accepted in place of another.
  /// - Parameter channel: ignored for the root, which has the keys of all channels.
  package func payloadType(channel: String) -> String {
    let type = "application/vnd.sluice.update.\(rawValue)+json"
    return self == .root ? type : "\(type);channel=\(channel)"
  }
}

/// The name of a channel: 1 to 64 letters, digits, `-`, `_` and `.`, not beginning with `.`. The name is used as a
/// folder name and as a part of a URL.
package enum ChannelName {
  package static func isValid(_ name: String) -> Bool { PortableName.isValid(name, limit: 64) }
}
