/// The lowest versions that a client accepts: those of the newest documents that it has accepted before.
package struct TrustFloors: Sendable, Hashable {
  /// The version and time of the newest accepted document of one role.
  package struct Floor: Sendable, Hashable {
    package var version: Int64
    /// The time at which the newest accepted document was made, as the document states it.
    package var created: UpdateMoment

    package init(version: Int64, created: UpdateMoment) {
      self.version = version
      self.created = created
    }
  }

  package var root: Floor?
  package var timestamp: Floor?
  package var release: Floor?
  /// The version of the release that the newest timestamp has named. This release might not have been fetched yet
  /// (§5.4.3).
  package var namedRelease: Int64?

  package init() {}

  /// The newest time in an accepted document. A clock that shows an earlier time is wrong.
  package var newestCreated: UpdateMoment? {
    [root, timestamp, release].compactMap { $0?.created }.max()
  }
}

/// The properties of a machine and a host that decide which builds of a release fit.
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
