import SluiceMessages

/// A release: the builds of all plugins of a channel, with a version.
package struct ReleaseDocument: Sendable, Hashable {
  package var channel: String
  package var version: Int64
  package var created: UpdateMoment
  package var expires: UpdateMoment
  /// The lowest ABI revision of a host that can install this release.
  package var minimumABI: UInt32
  package var targets: [ReleaseTarget]
  /// The builds that must not serve any more, as SHA-256 in lower-case hex.
  package var revoked: Set<String>

  package init(
    channel: String, version: Int64, created: UpdateMoment, expires: UpdateMoment, minimumABI: UInt32,
    targets: [ReleaseTarget], revoked: Set<String>
  ) {
    self.channel = channel
    self.version = version
    self.created = created
    self.expires = expires
    self.minimumABI = minimumABI
    self.targets = targets
    self.revoked = revoked
  }
}

/// One build of one plugin.
package struct ReleaseTarget: Sendable, Hashable {
  /// The maximum size, in bytes, of a library that a client downloads.
  package static let limitBytes: Int64 = 256 << 20

  /// The name of the plugin in configurations. It must be a portable file name.
  package var id: String
  /// The plugin's own version, for people.
  package var version: String
  /// The name of the machine, such as `x86_64`.
  package var architecture: String
  /// The ABI revisions that the build can be used with.
  package var abi: ClosedRange<UInt32>
  /// SHA-256 in lower-case hex.
  package var sha256: String
  /// In bytes.
  package var length: Int64
  /// The features of the host that the build requires.
  package var features: [String]

  package init(
    id: String, version: String, architecture: String, abi: ClosedRange<UInt32>, sha256: String, length: Int64,
    features: [String]
  ) {
    self.id = id
    self.version = version
    self.architecture = architecture
    self.abi = abi
    self.sha256 = sha256
    self.length = length
    self.features = features
  }

  /// Whether a text can be the id of a plugin.
  package static func isID(_ text: String) -> Bool { PortableName.isValid(text, limit: 128) }
}

/// The newest release of a channel.
package struct TimestampDocument: Sendable, Hashable {
  /// The longest time for which a timestamp can be valid. If a mirror withholds newer timestamps, clients notice this
  /// after this time.
  package static let longestLife = Duration.seconds(72 * 3600)

  package var channel: String
  package var version: Int64
  package var created: UpdateMoment
  package var expires: UpdateMoment
  package var releaseVersion: Int64
  /// The SHA-256 of the file of the release, in lower-case hex.
  package var releaseHash: String
  /// The length of the release's file in bytes.
  package var releaseLength: Int64

  package init(
    channel: String, version: Int64, created: UpdateMoment, expires: UpdateMoment, releaseVersion: Int64,
    releaseHash: String, releaseLength: Int64
  ) {
    self.channel = channel
    self.version = version
    self.created = created
    self.expires = expires
    self.releaseVersion = releaseVersion
    self.releaseHash = releaseHash
    self.releaseLength = releaseLength
  }
}
