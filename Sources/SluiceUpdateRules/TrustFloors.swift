/// What a client remembers of the documents that it has accepted; it does not accept a lower version later.
package struct TrustFloors: Sendable, Hashable {
  /// What is remembered of one role.
  package struct Floor: Sendable, Hashable {
    package var version: Int64
    /// The time at which the newest accepted document says that it was made.
    package var created: UpdateMoment

    package init(version: Int64, created: UpdateMoment) {
      self.version = version
      self.created = created
    }
  }

  package var root: Floor?
  package var timestamp: Floor?
  package var release: Floor?
  /// The version that the newest timestamp has named; that release might not have been fetched yet (§5.4.3).
  package var namedRelease: Int64?

  package init() {}

  /// The newest signed time; a clock that is earlier is wrong.
  package var newestCreated: UpdateMoment? {
    [root, timestamp, release].compactMap { $0?.created }.max()
  }
}

/// What a machine and a host accept of a release.
package struct UpdateOffer: Sendable, Hashable {
  /// The name of the machine, such as `x86_64`.
  package var architecture: String
  /// The ABI revisions of the host.
  package var abi: ClosedRange<UInt32>
  /// The features of the host, by name.
  package var features: Set<String>

  package init(architecture: String, abi: ClosedRange<UInt32>, features: Set<String>) {
    self.architecture = architecture
    self.abi = abi
    self.features = features
  }
}
