import SluiceMessages
import SluicePipeline
import Testing

@testable import SluiceCurl

/// Which transfers wait for room on a connection.
@Suite struct StreamGateTests {
  @Test func `an admitted transfer is released while others wait`() throws {
    var line = try Line()
    let (first, second) = (line.join(), line.join())
    let isFirst = line.letsIn(first)
    #expect(isFirst)
    #expect(first.transfer == nil)
    #expect(second.transfer != nil)
    #expect(!line.gate.isIdle)
  }

  @Test func `a transfer that is cancelled in the line is released while others wait`() throws {
    var line = try Line()
    let (first, second, third) = (line.join(), line.join(), line.join())
    first.transfer?.isCancelled = true
    let isSecond = line.letsIn(second)
    #expect(isSecond)
    #expect(first.transfer == nil)
    #expect(third.transfer != nil)
    #expect(!line.gate.isIdle)
  }

  @Test func `a line that is never empty keeps its order, and does not keep transfers that have left it`() throws {
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

/// A transfer that only the line keeps alive.
private struct Member {
  weak var transfer: CurlTransfer?
}

/// A gate whose one connection is full.
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

  /// Lets the next transfer in, and returns whether it is this one.
  mutating func letsIn(_ member: Member) -> Bool {
    guard let next = gate.next() else { return false }
    return next === member.transfer
  }
}
