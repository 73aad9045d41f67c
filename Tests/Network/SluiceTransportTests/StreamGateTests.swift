import SluiceMessages
import SluicePipeline
import Testing

@testable import SluiceCurl

/// The queue of transfers that wait for room on a connection.
@Suite struct StreamGateTests {
  @Test func `the gate does not keep an admitted transfer alive while others wait`() throws {
    var line = try Line()
    let (first, second) = (line.join(), line.join())
    let isFirst = line.letsIn(first)
    #expect(isFirst)
    #expect(first.transfer == nil)
    #expect(second.transfer != nil)
    #expect(!line.gate.isIdle)
  }

  @Test func `the gate does not keep a cancelled transfer alive while others wait`() throws {
    var line = try Line()
    let (first, second, third) = (line.join(), line.join(), line.join())
    first.transfer?.isCancelled = true
    let isSecond = line.letsIn(second)
    #expect(isSecond)
    #expect(first.transfer == nil)
    #expect(third.transfer != nil)
    #expect(!line.gate.isIdle)
  }

  @Test func `a queue that is never empty keeps its order, and releases transfers that have left it`() throws {
    var line = try Line()
    var members: [Member] = []
    var wrong: [Int] = []
    for round in 0..<2000 {
      members.append(line.join())
      members.append(line.join())
      let isNext = line.letsIn(members[round])
      if !isNext { wrong.append(round) }
      line.gate.didIssue(onPort: 1)
      line.gate.didEnd(onPort: 1)
    }
    #expect(wrong.isEmpty)
    let isKept = members.map { $0.transfer != nil }
    #expect(!isKept.prefix(2000).contains(true))
    #expect(!isKept.dropFirst(2000).contains(false))
    #expect(!line.gate.isIdle)
  }
}

/// A transfer that only the queue keeps alive.
private struct Member {
  weak var transfer: CurlTransfer?
}

/// A gate with one connection, which is full.
private struct Line {
  var gate = StreamGate()
  private let wire: Wire
  private let request: Request
  private let probe = Probe()
  private let transport: CurlTransport

  init() throws {
    wire = try Wire()
    transport = try #require(wire.transport as? CurlTransport)
    request = Request(url: HTTPURL("http://service.test/"))
    for _ in 0..<CurlMulti.streamsPerConnection {
      _ = gate.admit()
      gate.didIssue(onPort: 1)
    }
  }

  mutating func join() -> Member {
    let transfer = CurlTransfer(transport, request, TransferOptions(), probe)
    gate.wait(transfer)
    return Member(transfer: transfer)
  }

  /// Admits the next transfer, and returns whether this is the transfer of `member`.
  mutating func letsIn(_ member: Member) -> Bool {
    guard let next = gate.next() else { return false }
    return next === member.transfer
  }
}
