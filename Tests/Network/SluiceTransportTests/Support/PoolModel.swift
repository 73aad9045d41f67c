import SluicePipeline
import SluiceTestKit
import Testing

@testable import SluiceTransport

/// A pool without sockets: it performs the actions of a ``PoolMachine``, and events of the network happen by chance.
/// The same seed gives the same events.
struct PoolModel {
  private enum Use { case shared, doubted, owned }

  /// A connection of HTTP/2.
  private struct Session {
    var limit: Int
    var open = 0
    var requests = 0
    var isTrying = false
    var isDoubted = false
    var isRefusing = false
    /// Whether it takes no new requests.
    var isStopped = false

    var room: Int { isStopped || isTrying ? 0 : max(0, limit - open) }
  }

  private var machine: PoolMachine
  private let limit: Int?
  private let mayMultiplex: Bool
  private var random: SeededRandom
  private var now: UInt64 = 0
  private var waiters = 0
  private var dials: [Int: Use] = [:]
  /// The dials about which a delegate was asked.
  private var asking: Set<Int> = []
  private var busy = 0
  private var idle = 0
  private var sessions: [Session] = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    limit = [nil, 1, 2, 5].randomElement(using: &random) ?? nil
    mayMultiplex = Bool.random(using: &random)
    machine = PoolMachine(
      PoolMachine.Plan(mayMultiplex: mayMultiplex, mayDowngrade: Bool.random(using: &random), limit: limit))
  }

  private mutating func number(below count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
  private mutating func isOne(in count: Int) -> Bool { number(below: count) == 0 }
  private var anyDial: Int? {
    mutating get { dials.keys.sorted().randomElement(using: &random) }
  }

  // MARK: Events

  mutating func step() {
    now += UInt64(number(below: 100)) * 1_000_000
    switch number(below: 16) {
    case 0, 1, 2: for _ in 0...number(below: 4) { arrive() }
    case 3: wantNewConnection()
    case 4: findAddresses()
    case 5, 6: connect()
    case 7: fail()
    case 8: meetChallenge()
    case 9: endChallenge()
    case 10: giveUp()
    case 11: if busy > 0 { endTransfer(isReusable: isOne(in: 2)) }
    case 12: closeIdle()
    case 13: if isOne(in: 20) { demandHTTP1() }
    default: touchSession()
    }
    balance()
  }

  private mutating func arrive() {
    if waiters == 0, let index = sessions.indices.first(where: { sessions[$0].room > 0 }) {
      issue(on: index)
    } else if waiters == 0, idle > 0 {
      idle -= 1
      busy += 1
    } else {
      waiters += 1
    }
    balance()
  }

  private mutating func issue(on index: Int) {
    sessions[index].open += 1
    sessions[index].requests += 1
  }

  private mutating func wantNewConnection() {
    switch machine.handle(.newConnectionWanted) {
    case .begin(let dial): dials[dial] = .owned
    default:
      waiters += 1
      doubtTried()
    }
  }

  private mutating func findAddresses() {
    guard let dial = anyDial else { return }
    _ = machine.handle(.foundAddresses(dial, began: Instant(nanoseconds: now)))
  }

  private mutating func connect() {
    guard let dial = anyDial, !asking.contains(dial) else { return }
    if mayMultiplex, !isOne(in: 4) { connect(dial, streams: number(below: 4)) } else { connect(dial, streams: nil) }
  }

  /// - Parameter streams: how many streams the server allows; nil for HTTP/1.
  private mutating func connect(_ dial: Int, streams: Int?) {
    let use = dials.removeValue(forKey: dial)
    guard let streams else {
      _ = machine.handle(.connected(dial, .http1))
      busy += 1
      if use != .owned { endTransfer(isReusable: true) }
      return
    }
    let action = machine.handle(.connected(dial, .http2(streams: streams)))
    sessions.append(Session(limit: streams, isStopped: action != .use))
    guard action == .use else { return end(action) }
    let index = sessions.count - 1
    if use == .owned { issue(on: index) }
    makeRoom(index)
  }

  private mutating func fail() {
    guard let dial = anyDial else { return }
    dials[dial] = nil
    asking.remove(dial)
    end(machine.handle(.failed(dial)))
  }

  /// Ends the transfer that the action names.
  private mutating func end(_ action: PoolMachine.Action) {
    if action == .failFirst, waiters > 0 { waiters -= 1 }
  }

  private mutating func meetChallenge() {
    guard let dial = anyDial else { return }
    if dials[dial] != .owned {
      guard waiters > 0 else { return drop(machine.handle(.abandoned(dial))) }
      waiters -= 1
      dials[dial] = .owned
    }
    asking.insert(dial)
    _ = machine.handle(.asked(dial))
  }

  private mutating func endChallenge() {
    guard let dial = asking.sorted().randomElement(using: &random) else { return }
    asking.remove(dial)
    if isOne(in: 2) { _ = machine.handle(.accepted(dial)) } else { drop(machine.handle(.abandoned(dial))) }
  }

  private mutating func drop(_ action: PoolMachine.Action) {
    guard case .drop(let numbers) = action else { return }
    for dial in numbers {
      dials[dial] = nil
      asking.remove(dial)
    }
  }

  private mutating func giveUp() {
    guard waiters > 0 else { return }
    waiters -= 1
    machine.waiters = waiters
    guard machine.handle(.waiterEnded) == .doubtTried else { return }
    doubtTried()
    let shared = machine.sharedDials
    let action = machine.handle(.triedDoubted(Instant(nanoseconds: now)))
    if machine.sharedDials < shared, let slowest = dials.filter({ $0.value == .shared }).keys.min() {
      dials[slowest] = .doubted
    }
    drop(action)
  }

  /// A transfer over HTTP/1 has ended.
  private mutating func endTransfer(isReusable: Bool) {
    if isReusable, waiters > 0 {
      waiters -= 1
      return
    }
    busy -= 1
    if isReusable { idle += 1 } else { _ = machine.handle(.closed) }
  }

  private mutating func closeIdle() {
    guard idle > 0 else { return }
    idle -= 1
    _ = machine.handle(.closed)
  }

  private mutating func demandHTTP1() {
    guard machine.handle(.http1Demanded) == .drain else { return }
    for index in sessions.indices { sessions[index].isStopped = true }
  }

  // MARK: HTTP/2

  private mutating func touchSession() {
    guard !sessions.isEmpty else { return }
    let index = number(below: sessions.count)
    switch number(below: 8) {
    case 0:
      sessions[index].limit = number(below: 4)
      makeRoom(index)
    case 1: sessions[index].isTrying = !sessions[index].isStopped
    case 2: answer(index)
    case 3: stop(index)
    case 4: close(index)
    case 5:
      guard sessions[index].open > 0 else { return }
      sessions[index].isRefusing = true
      endStream(index)
      arrive()
    default: endStream(index)
    }
  }

  private mutating func endStream(_ index: Int) {
    guard sessions[index].open > 0 else { return }
    sessions[index].open -= 1
    makeRoom(index)
  }

  private mutating func makeRoom(_ index: Int) {
    machine.madeRoom(streams: sessions[index].limit)
    while sessions[index].room > 0, waiters > 0 {
      waiters -= 1
      issue(on: index)
    }
    balance()
  }

  private mutating func doubtTried() {
    for index in sessions.indices where sessions[index].isTrying && !sessions[index].isDoubted {
      sessions[index].isDoubted = true
      _ = machine.handle(.doubted)
      balance()
    }
  }

  /// The server has answered the PING.
  private mutating func answer(_ index: Int) {
    guard sessions[index].isTrying else { return }
    sessions[index].isTrying = false
    endDoubt(index)
    makeRoom(index)
  }

  private mutating func endDoubt(_ index: Int) {
    guard sessions[index].isDoubted else { return }
    sessions[index].isDoubted = false
    _ = machine.handle(.doubtEnded)
  }

  private mutating func stop(_ index: Int) {
    guard !sessions[index].isStopped else { return }
    sessions[index].isStopped = true
    end(machine.handle(.stopped(requests: sessions[index].requests, streams: sessions[index].limit)))
  }

  private mutating func close(_ index: Int) {
    endDoubt(index)
    _ = machine.handle(.closed)
    stop(index)
    sessions.remove(at: index)
  }

  // MARK: What must hold

  private var usable: [Session] { sessions.filter { !$0.isStopped } }

  private mutating func balance() {
    machine.waiters = waiters
    while let dial = machine.nextDial(survey) {
      dials[dial] = .shared
      #expect(limit.map { machine.connections - machine.doubtedConnections <= $0 } ?? true)
    }
  }

  private var survey: PoolMachine.Survey {
    PoolMachine.Survey(
      connections: usable.count, withoutStreams: usable.count { $0.limit == 0 },
      refusing: usable.count(where: \.isRefusing), isTrying: usable.contains { $0.isTrying && !$0.isDoubted })
  }

  func check() throws {
    try #require(machine.dialCount == dials.count)
    try #require(machine.sharedDials == dials.values.count { $0 == .shared })
    try #require(machine.connections == dials.count + busy + idle + sessions.count)
    try #require(machine.doubtedConnections == sessions.count(where: \.isDoubted))
    try #require(dials.values.count { $0 == .doubted } <= PoolMachine.doubtedDials)
    guard waiters > 0 else { return }
    let isFull = limit.map { machine.connections - machine.doubtedConnections >= $0 } ?? false
    try #require(isFull || !dials.isEmpty || !usable.isEmpty, "no connection will serve \(waiters) transfers")
  }

  /// From now on all goes well: then each waiter gets a connection, and nothing is left in the end.
  mutating func finish() throws {
    var steps = 0
    while waiters > 0 || !dials.isEmpty || busy > 0 || !sessions.isEmpty {
      steps += 1
      try #require(steps < 10_000, "\(waiters) transfers are forgotten")
      if let dial = dials.keys.min() {
        if asking.remove(dial) != nil { _ = machine.handle(.accepted(dial)) }
        connect(dial, streams: nil)
      } else if let index = sessions.indices.first {
        answer(index)
        sessions[index].isRefusing = false
        while sessions[index].open > 0 { endStream(index) }
        close(index)
      } else {
        try #require(busy > 0 || idle > 0, "\(waiters) transfers are forgotten")
        if busy > 0 { endTransfer(isReusable: true) } else { closeIdle() }
      }
      balance()
      try check()
    }
    while idle > 0 { closeIdle() }
    try #require(machine.isUnused)
  }
}
