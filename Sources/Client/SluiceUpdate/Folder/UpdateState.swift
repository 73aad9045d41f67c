import SluiceUpdateRules

/// What an installation remembers. The state decides which release serves; the link `current` follows the state.
struct UpdateState: Hashable, Sendable {
  /// A release that has begun to serve, and has not passed its probation.
  struct Probation: Hashable, Sendable {
    var release: Int64
    /// The release that served before; nil if this is the first release.
    var previous: Int64?
    /// The process in which the release serves; nil if the probation begins in the next process that starts.
    var owner: ProcessMark?
  }

  /// A release that is not installed again, unless a command demands it.
  struct Held: Hashable, Sendable {
    var release: Int64
    var reason: String
  }

  /// The newest release that was accepted.
  struct Accepted: Hashable, Sendable {
    var version: Int64
    /// The SHA-256 of the release's file.
    var hash: String
    /// The keys whose signatures were valid.
    var keys: [KeyID]
  }

  /// How the last look for a release ended.
  struct LastCheck: Hashable, Sendable {
    var at: UpdateMoment
    var outcome: String
    var message: String
  }

  /// The repository and the channel. A folder belongs to one channel of one repository.
  var url: String
  var channel: String
  /// The SHA-256 of the root that the configuration names.
  var anchor: String
  /// The file of the newest trusted root.
  var root: [UInt8]
  var floors = TrustFloors()
  var accepted: Accepted?
  /// The builds that must not serve, as the newest accepted release lists them.
  var revoked: Set<String> = []
  /// The release that serves.
  var installed: Int64?
  /// Releases that have passed their probation, the newest last.
  var good: [Int64] = []
  var probation: Probation?
  /// The builds that have failed, and why.
  var refused: [String: String] = [:]
  var held: Held?
  var lastCheck: LastCheck?

  /// The maximum number of releases in ``good``.
  static let goodLimit = 8

  mutating func addGood(_ release: Int64) {
    good.removeAll { $0 == release }
    good.append(release)
    good = Array(good.suffix(Self.goodLimit))
  }

  /// Why a build must not serve; nil if it can serve.
  func objection(to hash: String) -> String? {
    if revoked.contains(hash) { return "it is revoked by release \(accepted?.version ?? 0)" }
    return refused[hash]
  }
}
