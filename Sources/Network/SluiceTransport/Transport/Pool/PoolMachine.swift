import SluicePipeline

/// The decisions of an ``OriginPool``, as a value: it takes an event and says what to do. It calls nothing, and knows
/// dials by number.
///
/// After each event, and after its action was performed, ``nextDial(_:)`` says which dials the waiting transfers need.
///
/// While it is not known whether the server speaks HTTP/2, only one connection is attempted for all waiting transfers,
/// because one HTTP/2 connection may be enough for them. If a transfer gives up while such an attempt takes long, the
/// others do not rely on this attempt any more: another one is begun beside it.
struct PoolMachine {
  /// What is known about a pool when it is made.
  struct Plan {
    /// Whether the server may speak HTTP/2.
    var mayMultiplex = false
    /// Whether HTTP/1.1 can take the place of HTTP/2. It cannot if the settings prescribe HTTP/2 in clear text.
    var mayDowngrade = false
    /// Whether the pool is for a single transfer.
    var isPrivate = false
    /// The maximum number of connections that are open or being made; nil for no limit.
    var limit: Int?
  }

  /// What the HTTP/2 connections that take new requests can do now.
  struct Survey {
    var connections = 0
    /// How many of them allow no streams at present.
    var withoutStreams = 0
    /// On how many the server refuses streams.
    var refusing = 0
    /// Whether one is tested with a PING and may become usable soon.
    var isTrying = false
  }

  enum Speech: Equatable {
    case http1
    /// HTTP/2, with this number of streams at a time.
    case http2(streams: Int)
  }

  enum Event {
    /// A transfer needs a new connection, because it repeats a request whose connection was lost or did not answer.
    case newConnectionWanted
    /// A transfer in the line has ended.
    case waiterEnded
    /// ``Action/doubtTried`` was performed.
    case triedDoubted(Instant)
    /// The dial has the addresses of its host. It began at this time.
    case foundAddresses(Int, began: Instant)
    /// The server has sent a challenge, which a transfer decides about. From now on, the dial is for this transfer.
    case asked(Int)
    /// The transfer has accepted the challenge.
    case accepted(Int)
    /// No transfer wants the dial any more.
    case abandoned(Int)
    case connected(Int, Speech)
    case failed(Int)
    /// A connection was closed.
    case closed
    /// An HTTP/2 connection takes no new requests. `requests` is the number of requests that were issued on it, and
    /// `streams` the number of streams that the server allows on it.
    case stopped(requests: Int, streams: Int)
    /// An HTTP/2 connection may be dead.
    case doubted
    /// A doubted connection has answered, or is about to be closed.
    case doubtEnded
    /// The server demands HTTP/1.1 (HTTP_1_1_REQUIRED, RFC 9113 §7).
    case http1Demanded
  }

  enum Action: Equatable {
    case none
    /// Begin this dial for the transfer.
    case begin(Int)
    /// Put the transfer in the line, and then do the same as for ``doubtTried``, without an answer.
    case queue
    /// Doubt the connections that are tested with a PING. ``Event/triedDoubted(_:)`` follows.
    case doubtTried
    /// Give up these dials, and then begin those that the waiting transfers need. The list can be empty.
    case drop([Int])
    /// Give the new connection to the dial's owner, or else to the waiting transfers.
    case use
    /// End the dial's owner with an error. A new connection is not used.
    case failOwner
    /// End the transfer that has waited longest with an error. A new connection is not used.
    case failFirst
    /// Issue no more requests on the HTTP/2 connections.
    case drain
    /// The demand cannot be met.
    case refuse
  }

  /// A connection that is being made.
  private struct Attempt {
    enum Use {
      /// For any of the waiting transfers, and they rely on it.
      case shared
      /// A transfer has given up while the dial took long. No waiting transfer relies on it.
      case doubted
      /// For one transfer.
      case owned
    }

    var use: Use
    /// From when on the dial is slow; nil while it looks up a name, for which all dials of the pool wait together.
    var slowAt: Instant?
    /// Whether a delegate was asked about the handshake and has not answered yet.
    var isAsking = false
  }

  /// How many transfers a connection to the origin carries.
  private enum Capacity {
    case unknown
    /// HTTP/1: one transfer at a time. This is also assumed after a failed attempt, so that the waiting transfers
    /// connect at the same time instead of failing one after another.
    case single
    /// HTTP/2: at most this number of transfers at a time.
    case multiplexed(Int)
  }

  /// The maximum number of doubted dials that continue.
  static let doubtedDials = 3
  /// The maximum number of dials among which a slow one is looked for.
  static let watchedDials = 64

  private let plan: Plan
  private var capacity: Capacity
  /// The number of transfers in the line. The pool sets it, because the line knows which of its transfers have ended.
  var waiters = 0
  /// Whether the server has demanded HTTP/1.1. It is then not offered HTTP/2 again.
  private(set) var demandsHTTP1 = false
  /// The number of connections that are open, including idle ones, or being made.
  private(set) var connections = 0
  /// The number of HTTP/2 connections that may be dead. They do not count against the limit of connections.
  private(set) var doubtedConnections = 0
  /// The dials by number. A later dial has a higher number.
  private var dials: [Int: Attempt] = [:]
  private(set) var sharedDials = 0
  private var lastDial = 0

  init(_ plan: Plan) {
    self.plan = plan
    capacity = plan.mayMultiplex ? .unknown : .single
  }

  var dialCount: Int { dials.count }

  var isUnused: Bool { connections == 0 && waiters == 0 }
  /// Whether the pool was for a single transfer, which no longer needs it.
  var isSpent: Bool { plan.isPrivate && isUnused }

  // MARK: Dials

  /// Returns the number of the next dial to begin for the waiting transfers; nil if they need no other dial or the
  /// limit is reached.
  mutating func nextDial(_ survey: Survey) -> Int? {
    guard sharedDials < wantedDials(survey), plan.limit.map({ connections - doubtedConnections < $0 }) ?? true else {
      return nil
    }
    return beginDial(.shared)
  }

  /// How many dials should be under way for the waiting transfers.
  private func wantedDials(_ survey: Survey) -> Int {
    guard waiters > 0 else { return 0 }
    switch capacity {
    case .single: return waiters
    case .unknown: return dials.values.contains(where: \.isAsking) ? 0 : 1
    case .multiplexed(let streams):
      if survey.isTrying { return 0 }
      // If a server refuses streams on two connections, more connections would not help.
      if survey.refusing > 1 { return 0 }
      // More connections to a server that allows no streams would not help.
      guard streams > 0 else { return survey.connections == 0 ? 1 : 0 }
      return max(0, (waiters + streams - 1) / streams - survey.withoutStreams)
    }
  }

  private mutating func beginDial(_ use: Attempt.Use) -> Int {
    connections += 1
    lastDial += 1
    dials[lastDial] = Attempt(use: use)
    if use == .shared { sharedDials += 1 }
    return lastDial
  }

  private mutating func use(_ dial: Int, as use: Attempt.Use) {
    guard let attempt = dials[dial] else { return }
    if attempt.use == .shared { sharedDials -= 1 }
    dials[dial]?.use = use
  }

  /// Forgets a dial that has ended. Returns what it was for; nil if it was forgotten before.
  private mutating func endDial(_ dial: Int) -> Attempt.Use? {
    guard let attempt = dials.removeValue(forKey: dial) else { return nil }
    if attempt.use == .shared { sharedDials -= 1 }
    return attempt.use
  }

  private mutating func drop(_ dial: Int) -> Action {
    guard endDial(dial) != nil else { return .none }
    connections -= 1
    return .drop([dial])
  }

  // MARK: Events

  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .newConnectionWanted: return newConnection()
    case .waiterEnded: return waiterEnded()
    case .triedDoubted(let now): return doubtSlowestDial(at: now)
    case .foundAddresses(let dial, let began): dials[dial]?.slowAt = began + Dial.attemptDelay
    case .asked(let dial):
      use(dial, as: .owned)
      dials[dial]?.isAsking = true
    case .accepted(let dial): dials[dial]?.isAsking = false
    case .abandoned(let dial): return drop(dial)
    case .connected(let dial, let speech): return connected(dial, speech)
    case .failed(let dial): return failed(dial)
    case .closed: connections -= 1
    case .stopped(let requests, let streams):
      // If the server has allowed no streams on it, a transfer fails. Otherwise connections would be made, without end,
      // for a server that closes each of them.
      return requests == 0 && streams == 0 ? .failFirst : .none
    case .doubted: doubtedConnections += 1
    case .doubtEnded: doubtedConnections -= 1
    case .http1Demanded: return downgrade()
    }
    return .none
  }

  /// Notes that a stream of an HTTP/2 connection has ended, or that the server allows more streams. It has no event,
  /// because it occurs for each request.
  mutating func madeRoom(streams: Int) {
    if case .multiplexed = capacity { capacity = .multiplexed(streams) }
  }

  /// Over HTTP/1, the transfer gets a connection of its own, even above the limit. Over HTTP/2, it waits in the line,
  /// so that all such transfers share one new connection.
  private mutating func newConnection() -> Action {
    if case .multiplexed = capacity { .queue } else { .begin(beginDial(.owned)) }
  }

  private mutating func waiterEnded() -> Action {
    guard plan.isPrivate else { return .doubtTried }
    guard waiters == 0, !dials.isEmpty else { return .none }
    let dropped = dials.keys.sorted()
    for dial in dropped { _ = drop(dial) }
    return .drop(dropped)
  }

  /// A transfer has given up before it got a connection. The server may never answer the attempt that has taken
  /// longest, so it no longer counts as a connection for the waiting transfers. It continues, because a slow connection
  /// may still be of use; but not if the limit leaves no room beside it.
  private mutating func doubtSlowestDial(at now: Instant) -> Action {
    // No transfer relies on one attempt if many are under way.
    guard dials.count <= Self.watchedDials else { return .none }
    let slowest = dials.filter { $0.value.use == .shared }.min { $0.key < $1.key }
    guard let slowest, let slowAt = slowest.value.slowAt, slowAt <= now else { return .none }
    use(slowest.key, as: .doubted)
    if let limit = plan.limit, connections >= limit { return drop(slowest.key) }
    let doubted = dials.filter { $0.value.use == .doubted }.keys
    guard doubted.count > Self.doubtedDials, let oldest = doubted.min() else { return .drop([]) }
    return drop(oldest)
  }

  private mutating func connected(_ dial: Int, _ speech: Speech) -> Action {
    let use = endDial(dial)
    switch speech {
    case .http1: capacity = .single
    case .http2(let streams):
      // The connection was begun before the server has demanded HTTP/1.1.
      guard !demandsHTTP1 else { return use == .owned ? .failOwner : .failFirst }
      capacity = .multiplexed(streams)
    }
    return .use
  }

  private mutating func failed(_ dial: Int) -> Action {
    guard let use = endDial(dial) else { return .none }
    capacity = .single
    connections -= 1
    return switch use {
    case .shared: .failFirst
    case .owned: .failOwner
    // No transfer relies on a doubted dial, so none gets its error.
    case .doubted: .none
    }
  }

  private mutating func downgrade() -> Action {
    guard plan.mayDowngrade else { return .refuse }
    guard !demandsHTTP1 else { return .none }
    demandsHTTP1 = true
    capacity = .single
    return .drain
  }
}
