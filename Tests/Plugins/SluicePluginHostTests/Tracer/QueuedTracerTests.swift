import CSluice
import Glibc
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Queued delivery to a tracer in C that a gate can block.
struct QueuedTracerTests {
  /// A fixture plugin whose events are delivered through a queue.
  private final class Setup {
    let stage: StageFixture
    let tracer: QueuedTracer
    let pipeline: Pipeline
    let gate: UnsafeMutablePointer<CInt>

    init(
      capacityBytes: Int = 16_384, patience: Duration = .seconds(60),
      answer: @escaping (Request) -> StubTransport.Reply = { _ in .response(Response(status: 200)) }
    ) async throws {
      stage = try await StageFixture("traces-behind-a-gate", answer: answer)
      tracer = QueuedTracer(stage.instance, loops: 1, capacityBytes: capacityBytes, patience: patience)
      pipeline = Pipeline(tracers: [TracerBinding(name: "queued", tracer: tracer, budget: .seconds(3600))])
      let generation = stage.generation
      let address = "gate".withCString { generation.table.extension($0) }
      gate = UnsafeMutableRawPointer(mutating: try #require(address)).assumingMemoryBound(to: CInt.self)
      try tracer.start()
    }

    func run(_ request: Request, count: Int = 1) {
      var ended = 0
      for _ in 0..<count {
        stage.loop.perform {
          Transaction.begin(request, on: stage.environment, through: pipeline) { _ in ended += 1 }
        }
        stage.loop.run { ended > 0 }
        ended = 0
      }
    }

    var drops: UInt64 { pipeline.metrics.first?.snapshot().tracer("queued")?.drops ?? 0 }

    /// The kinds of the events of each transaction, in the order in which the transactions began.
    var kinds: [[Int]] {
      var order: [Substring] = []
      var kinds: [Substring: [Int]] = [:]
      for event in stage.told("event") {
        let parts = event.split(separator: " ")
        guard let id = parts.first, let kind = parts.last.flatMap({ Int($0) }) else { continue }
        if kinds[id] == nil { order.append(id) }
        kinds[id, default: []].append(kind)
      }
      return order.compactMap { kinds[$0] }
    }
  }

  private static let all = [1, 2, 3, 4, 12, 5, 6, 7, 8]

  @Test func `a queued tracer gets every event in order, without an exchange`() async throws {
    // There is room for all events, so that no event is dropped even if the tracer's thread is late.
    let setup = try await Setup(capacityBytes: 65_536)
    setup.run(try StageFixture.request(), count: 5)
    setup.tracer.stop(within: .seconds(60))
    #expect(setup.kinds == Array(repeating: Self.all, count: 5))
    #expect(setup.stage.told("exchange").isEmpty)
    #expect(setup.stage.told("method") == Array(repeating: "GET", count: 5))
    #expect(setup.stage.told("outcome") == Array(repeating: "1", count: 5))
    #expect(setup.stage.told("sent").count == 10)
    #expect(setup.drops == 0)
    #expect(setup.gate[2] == 0)
  }

  @Test func `if the queue overflows, no start and no end is lost, and each delivered event follows its predecessor`()
    async throws
  {
    let setup = try await Setup(patience: .milliseconds(1))
    setup.gate[0] = 0
    setup.run(try StageFixture.request(), count: 60)
    #expect(setup.drops > 0)
    setup.gate[0] = 1
    setup.tracer.stop(within: .seconds(60))
    #expect(setup.kinds.count == 60)
    for kinds in setup.kinds {
      #expect(kinds.last == 8)
      #expect(kinds.dropLast() == Self.all.prefix(kinds.count - 1))
    }
    let told = setup.kinds.reduce(0) { $0 + $1.count }
    #expect(told + Int(setup.drops) == 60 * 9)
  }

  @Test func `the start of a transaction waits for room in the queue, so traffic slows down to the tracer's speed`()
    async throws
  {
    let setup = try await Setup()
    setup.gate[0] = 0
    let (tracer, gate) = (setup.tracer, UInt(bitPattern: setup.gate))
    let opener = Background {
      while !tracer.isHoldingUp { sched_yield() }
      UnsafeMutablePointer<CInt>(bitPattern: gate)?.pointee = 1
    }
    setup.run(try StageFixture.request(), count: 300)
    opener.join()
    setup.tracer.stop(within: .seconds(60))
    #expect(setup.kinds.count == 300)
    #expect(setup.kinds.allSatisfy { $0.first == 1 && $0.last == 8 })
  }

  @Test func `long texts are cut between two characters`() async throws {
    let message = "x" + String(repeating: "é", count: 1000)
    let setup = try await Setup { _ in .failure(TransportError(.connectionLost, message)) }
    let path = String(repeating: "p", count: 5000)
    setup.run(Request(url: try HTTPURL("http://example.com/\(path)")))
    setup.tracer.stop(within: .seconds(60))
    #expect(setup.stage.told("url") == ["2048"])
    #expect(setup.stage.told("message") == ["1023"])
  }

  @Test func `a tracer that does not return is abandoned and named in the log, and its instance is kept`()
    async throws
  {
    let setup = try await Setup()
    setup.gate[0] = 0
    setup.run(try StageFixture.request(), count: 2)
    setup.tracer.stop(within: .milliseconds(20))
    #expect(
      setup.stage.log.value.contains { $0.level == .error && $0.message.contains("did not take its queued events") })
    #expect(!setup.stage.instance.destroy(within: .milliseconds(20)))
    setup.gate[0] = 1
    #expect(setup.stage.instance.destroy(within: .seconds(60)))
    #expect(setup.stage.told("event").count <= 1)
  }
}
