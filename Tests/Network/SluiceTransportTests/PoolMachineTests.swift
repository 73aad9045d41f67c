import SluicePipeline
import Testing

@testable import SluiceTransport

/// The decisions of ``PoolMachine``. The tests use literal events, without a loop, a connection or a server.
@Suite struct PoolMachineTests {
  /// A machine, and the dials that it has asked for.
  private struct Bench {
    var machine: PoolMachine
    var survey = PoolMachine.Survey()

    init(
      http2: Bool = false, clearText: Bool = false, isPrivate: Bool = false, limit: Int? = nil
    ) {
      machine = PoolMachine(
        PoolMachine.Plan(mayMultiplex: http2, mayDowngrade: !clearText, isPrivate: isPrivate, limit: limit))
    }

    /// More transfers wait. Returns the dials that are begun for them.
    mutating func wait(_ count: Int) -> [Int] {
      machine.waiters += count
      return dials()
    }

    /// Some of the waiting transfers have got a connection. Returns the dials that are begun.
    mutating func serve(_ count: Int) -> [Int] {
      machine.waiters -= count
      return dials()
    }

    /// A waiting transfer has ended.
    mutating func giveUp(at now: Int = 0) -> PoolMachine.Action {
      machine.waiters -= 1
      let action = machine.handle(.waiterEnded)
      return action == .doubtTried ? machine.handle(.triedDoubted(.at(now))) : action
    }

    mutating func tell(_ event: PoolMachine.Event) -> PoolMachine.Action { machine.handle(event) }

    mutating func dials() -> [Int] {
      var dials: [Int] = []
      while let dial = machine.nextDial(survey) { dials.append(dial) }
      return dials
    }
  }

  // MARK: The versions of HTTP

  @Test func `over HTTP/1 each transfer has a dial`() {
    var bench = Bench()
    #expect(bench.wait(2) == [1, 2])
    #expect(bench.wait(1) == [3])
    #expect(bench.tell(.connected(2, .http1)) == .use)
    #expect(bench.serve(1) == [])
    #expect(bench.tell(.failed(1)) == .failFirst)
    #expect(bench.serve(1) == [])
    #expect(bench.machine.connections == 2 && bench.machine.sharedDials == 1)
  }

  @Test func `a transfer that is served by another connection leaves a dial for the next`() {
    var bench = Bench()
    #expect(bench.wait(2) == [1, 2])
    #expect(bench.serve(1) == [])
    #expect(bench.wait(1) == [])
  }

  @Test func `while the version is unknown one dial is made for all`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(5) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 100))) == .use)
    bench.survey.connections = 1
    #expect(bench.serve(5) == [])
  }

  @Test func `a server that speaks HTTP/1 gets a dial for each transfer`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(4) == [1])
    #expect(bench.tell(.connected(1, .http1)) == .use)
    #expect(bench.serve(1) == [2, 3, 4])
  }

  @Test func `after a failed dial the others connect at the same time`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(4) == [1])
    #expect(bench.tell(.failed(1)) == .failFirst)
    #expect(bench.serve(1) == [2, 3, 4])
  }

  @Test func `when the streams are full more connections are made`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(10) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 4))) == .use)
    bench.survey.connections = 1
    #expect(bench.serve(4) == [2, 3])
    #expect(bench.wait(2) == [])
    #expect(bench.wait(1) == [4])
    bench.machine.madeRoom(streams: 1)
    #expect(bench.serve(1) == [5, 6, 7, 8, 9])
  }

  @Test func `room on an HTTP/1 origin does not change the version`() {
    var bench = Bench()
    bench.machine.madeRoom(streams: 100)
    #expect(bench.wait(2) == [1, 2])
  }

  // MARK: The limit

  @Test func `there are never more connections than the limit`() {
    var bench = Bench(limit: 2)
    #expect(bench.wait(5) == [1, 2])
    #expect(bench.tell(.connected(1, .http1)) == .use)
    #expect(bench.serve(1) == [])
    #expect(bench.tell(.closed) == .none)
    #expect(bench.dials() == [3])
    #expect(bench.tell(.failed(2)) == .failFirst)
    #expect(bench.serve(1) == [4])
  }

  @Test func `doubted connections do not count against the limit`() {
    var bench = Bench(http2: true, limit: 1)
    #expect(bench.wait(1) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 1))) == .use)
    bench.survey.connections = 1
    #expect(bench.serve(1) == [])
    #expect(bench.wait(1) == [])
    #expect(bench.tell(.doubted) == .none)
    #expect(bench.dials() == [2])
    #expect(bench.tell(.doubtEnded) == .none)
    #expect(bench.wait(1) == [])
    #expect(bench.machine.doubtedConnections == 0)
  }

  @Test func `a repeated request gets its own connection above the limit over HTTP/1`() {
    var bench = Bench(limit: 1)
    #expect(bench.wait(1) == [1])
    #expect(bench.tell(.newConnectionWanted) == .begin(2))
    #expect(bench.machine.connections == 2 && bench.machine.sharedDials == 1)
    #expect(bench.tell(.failed(2)) == .failOwner)
  }

  @Test func `repeated requests share a connection over HTTP/2`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(1) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 10))) == .use)
    #expect(bench.serve(1) == [])
    #expect(bench.tell(.newConnectionWanted) == .queue)
    #expect(bench.wait(1) == [2])
    #expect(bench.tell(.newConnectionWanted) == .queue)
    #expect(bench.wait(1) == [])
  }

  // MARK: Slow dials

  @Test func `a slow dial is doubted when a transfer gives up`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(3) == [1])
    #expect(bench.tell(.foundAddresses(1, began: .at(0))) == .none)
    #expect(bench.giveUp(at: 249) == .none)
    #expect(bench.dials() == [])
    #expect(bench.giveUp(at: 250) == .drop([]))
    #expect(bench.dials() == [2])
    // Nobody relies on the doubted dial.
    #expect(bench.tell(.failed(1)) == .none)
  }

  @Test func `a doubted dial that connects is used`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(2) == [1])
    #expect(bench.tell(.foundAddresses(1, began: .at(0))) == .none)
    #expect(bench.giveUp(at: 300) == .drop([]))
    #expect(bench.dials() == [2])
    #expect(bench.tell(.connected(1, .http2(streams: 10))) == .use)
    #expect(bench.machine.sharedDials == 1)
  }

  @Test func `a dial that looks up a name is not slow`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(2) == [1])
    #expect(bench.giveUp(at: 10_000) == .none)
    #expect(bench.dials() == [])
  }

  @Test func `the dial that began first is the slow one`() {
    var bench = Bench()
    #expect(bench.wait(3) == [1, 2, 3])
    for dial in [2, 3, 1] { #expect(bench.tell(.foundAddresses(dial, began: .at(dial))) == .none) }
    #expect(bench.giveUp(at: 300) == .drop([]))
    #expect(bench.tell(.failed(1)) == .none)
    #expect(bench.tell(.failed(2)) == .failFirst)
  }

  @Test func `at the limit a doubted dial is dropped`() {
    var bench = Bench(http2: true, limit: 1)
    #expect(bench.wait(2) == [1])
    #expect(bench.tell(.foundAddresses(1, began: .at(0))) == .none)
    #expect(bench.giveUp(at: 300) == .drop([1]))
    #expect(bench.dials() == [2])
  }

  @Test func `only three doubted dials continue`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(9) == [1])
    for dial in 1...3 {
      #expect(bench.tell(.foundAddresses(dial, began: .at(0))) == .none)
      #expect(bench.giveUp(at: 300) == .drop([]))
      #expect(bench.dials() == [dial + 1])
    }
    #expect(bench.tell(.foundAddresses(4, began: .at(0))) == .none)
    #expect(bench.giveUp(at: 300) == .drop([1]))
    #expect(bench.dials() == [5])
    #expect(bench.machine.connections == 4 && bench.machine.dialCount == 4)
  }

  @Test func `no dial is doubted if many are under way`() {
    var bench = Bench()
    let count = PoolMachine.watchedDials + 1
    for dial in bench.wait(count) { #expect(bench.tell(.foundAddresses(dial, began: .at(0))) == .none) }
    #expect(bench.giveUp(at: 300) == .none)
    #expect(bench.tell(.failed(1)) == .failFirst)
    _ = bench.serve(1)
    #expect(bench.giveUp(at: 300) == .drop([]))
  }

  // MARK: Challenges

  @Test func `a dial that asks belongs to one transfer and stops other dials of unknown version`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(2) == [1])
    bench.machine.waiters -= 1
    #expect(bench.tell(.asked(1)) == .none)
    #expect(bench.dials() == [])
    #expect(bench.tell(.accepted(1)) == .none)
    #expect(bench.dials() == [2])
    #expect(bench.tell(.failed(1)) == .failOwner)
  }

  @Test func `a dial that nobody wants is dropped once`() {
    var bench = Bench()
    #expect(bench.tell(.newConnectionWanted) == .begin(1))
    #expect(bench.tell(.abandoned(1)) == .drop([1]))
    #expect(bench.tell(.abandoned(1)) == .none)
    #expect(bench.machine.isUnused && !bench.machine.isSpent)
  }

  // MARK: Connections of HTTP/2

  @Test func `no dial is begun while a connection is tested`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(1) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 10))) == .use)
    bench.survey = PoolMachine.Survey(connections: 1, isTrying: true)
    #expect(bench.serve(1) == [])
    #expect(bench.wait(1) == [])
    bench.survey.isTrying = false
    #expect(bench.tell(.doubted) == .none)
    #expect(bench.dials() == [2])
  }

  @Test func `a server that allows no streams gets no second connection`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(3) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 0))) == .use)
    bench.survey = PoolMachine.Survey(connections: 1, withoutStreams: 1)
    #expect(bench.dials() == [])
    // Each connection that the server closes costs one transfer, so this ends.
    bench.survey = PoolMachine.Survey()
    #expect(bench.tell(.stopped(requests: 0, streams: 0)) == .failFirst)
    #expect(bench.tell(.closed) == .none)
    #expect(bench.serve(1) == [2])
  }

  @Test func `a connection that may still allow streams counts as one`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(1) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 2))) == .use)
    #expect(bench.serve(1) == [])
    bench.survey = PoolMachine.Survey(connections: 2, withoutStreams: 1)
    #expect(bench.wait(2) == [])
    #expect(bench.wait(1) == [2])
  }

  @Test func `a connection that has carried requests ends without a victim`() {
    var bench = Bench(http2: true)
    #expect(bench.tell(.stopped(requests: 1, streams: 0)) == .none)
    #expect(bench.tell(.stopped(requests: 0, streams: 1)) == .none)
  }

  @Test func `a server that refuses streams on two connections gets no third`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(1) == [1])
    #expect(bench.tell(.connected(1, .http2(streams: 10))) == .use)
    #expect(bench.serve(1) == [])
    bench.survey = PoolMachine.Survey(connections: 2, refusing: 2)
    #expect(bench.wait(1) == [])
    bench.survey.refusing = 1
    #expect(bench.dials() == [2])
  }

  // MARK: The downgrade

  @Test func `a demand for HTTP/1 drains the connections and is met once`() {
    var bench = Bench(http2: true)
    #expect(bench.wait(3) == [1])
    #expect(bench.tell(.newConnectionWanted) == .begin(2))
    #expect(bench.tell(.http1Demanded) == .drain)
    #expect(bench.machine.demandsHTTP1)
    #expect(bench.dials() == [3, 4])
    #expect(bench.tell(.http1Demanded) == .none)
    // These connections were begun before the demand.
    #expect(bench.tell(.connected(1, .http2(streams: 100))) == .failFirst)
    #expect(bench.tell(.connected(2, .http2(streams: 100))) == .failOwner)
    #expect(bench.serve(1) == [])
    #expect(bench.tell(.connected(3, .http1)) == .use)
  }

  @Test func `HTTP/2 in clear text has no downgrade`() {
    var bench = Bench(http2: true, clearText: true)
    #expect(bench.tell(.http1Demanded) == .refuse)
    #expect(!bench.machine.demandsHTTP1)
  }

  // MARK: A pool for a single transfer

  @Test func `a private pool drops its dials with its transfer`() {
    var bench = Bench(isPrivate: true)
    #expect(bench.wait(1) == [1])
    #expect(!bench.machine.isSpent)
    #expect(bench.giveUp() == .drop([1]))
    #expect(bench.machine.isSpent)
  }

  @Test func `a private pool is spent when its connection is closed`() {
    var bench = Bench(http2: true, isPrivate: true)
    #expect(bench.wait(1) == [1])
    #expect(bench.tell(.connected(1, .http1)) == .use)
    #expect(bench.serve(1) == [])
    #expect(!bench.machine.isSpent)
    #expect(bench.tell(.closed) == .none)
    #expect(bench.machine.isSpent)
  }

  // MARK: Chance

  @Test(arguments: 0..<400 as Range<UInt64>)
  func `random events break no count and forget no waiter`(seed: UInt64) throws {
    var model = PoolModel(seed: seed)
    for _ in 0..<300 {
      model.step()
      try model.check()
    }
    try model.finish()
  }
}

extension Instant {
  fileprivate static func at(_ milliseconds: Int) -> Instant {
    Instant(nanoseconds: UInt64(milliseconds) * 1_000_000)
  }
}
