import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

@testable import SluiceAssembly

/// Session ids that are replaced when they have not been used for a time.
@Suite struct SessionIDTests {
  private static let minute: UInt64 = 60_000_000_000

  @Test func `a session id stays while it is used, and is replaced after the idle time`() {
    let session = RotatingSessionID(idle: .seconds(30 * 60))
    let first = session.use(at: Instant(nanoseconds: Self.minute))
    for minutes in [2, 31, 60, 89] {
      #expect(session.use(at: Instant(nanoseconds: UInt64(minutes) * Self.minute)) == first)
    }
    let second = session.use(at: Instant(nanoseconds: 119 * Self.minute))
    #expect(second != first)
    #expect(session.use(at: Instant(nanoseconds: 120 * Self.minute)) == second)
    #expect(second.description.count == 36)
    #expect(TransactionID(second.description) == second)
  }

  @Test func `a use with an earlier time changes nothing`() {
    let session = RotatingSessionID(idle: .seconds(60))
    let first = session.use(at: Instant(nanoseconds: 10 * Self.minute))
    #expect(session.use(at: Instant(nanoseconds: 5 * Self.minute)) == first)
    #expect(session.use(at: Instant(nanoseconds: 11 * Self.minute - 1)) == first)
    #expect(session.use(at: .distantFuture) != first)
  }

  @Test func `all threads that come after the idle time get the same new id`() async {
    let session = RotatingSessionID(idle: .seconds(60))
    var last = session.use(at: Instant(nanoseconds: Self.minute))
    for round in 1...50 {
      let now = Instant(nanoseconds: UInt64(round + 1) * 2 * Self.minute)
      let ids = await withTaskGroup(of: TransactionID.self) { group in
        for _ in 0..<4 { group.addTask { session.use(at: now) } }
        return await group.reduce(into: Set<TransactionID>()) { $0.insert($1) }
      }
      #expect(ids.count == 1)
      #expect(!ids.contains(last))
      last = ids.first ?? last
    }
  }

  @Test func `all loops share the session, and the idle time is computed from the times of the hops`() throws {
    var settings = HeadersStage.Settings()
    settings.hosts = HostList(origin: HTTPURL("http://a.example").origin)
    settings.session = (Array("X-Session-ID".utf8), .rotating(RotatingSessionID(idle: .seconds(60))))
    let stage = HeadersStage(settings)
    let sender = Sender(stage)
    let first = try sender.send(on: 0)
    sender.advance(by: .seconds(59))
    #expect(try sender.send(on: 1) == first)
    sender.advance(by: .seconds(59))
    #expect(try sender.send(on: 0) == first)
    sender.advance(by: .seconds(60))
    let second = try sender.send(on: 1)
    #expect(second != first)
    #expect(try sender.send(on: 0) == second)
  }
}

/// Two loops with a pipeline of one stage.
private struct Sender {
  private let loops = [StubLoop(index: 0), StubLoop(index: 1)]
  private let transports: [StubTransport]
  private let environments: [LoopEnvironment]
  private let pipeline: Pipeline

  init(_ stage: any Interceptor) {
    transports = loops.map { StubTransport(loop: $0) }
    environments = zip(loops, transports).map { LoopEnvironment(loop: $0, transport: $1) }
    pipeline = Pipeline(issueStages: [StageBinding(name: "headers", interceptor: stage)], loops: 2)
  }

  func advance(by duration: Duration) { for loop in loops { loop.advance(by: duration) } }

  /// Sends a request on a loop, and returns the session id in it.
  func send(on index: Int) throws -> String {
    let request = Request(url: HTTPURL("http://a.example/"))
    loops[index].perform { Transaction.begin(request, on: environments[index], through: pipeline) { _ in } }
    let issued = try #require(transports[index].issued.last)
    return try #require(issued.headers["X-Session-ID"])
  }
}
