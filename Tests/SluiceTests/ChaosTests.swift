import Glibc
import Sluice
import SluiceLocks
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import Testing

/// Everything that can go wrong, at once and at random: the server delays, cuts, redirects and refuses, stages suspend,
/// retry, fail, answer and come late, callers give up.
@Suite struct ChaosTests {
  /// Scale: 5,000 transactions; `SLUICE_SOAK=1` takes 200,000.
  @Test func `E2: in chaos every transaction completes once, the ledger is whole, and nothing is left`() async {
    await #expect(processExitsWith: .success) {
      let isFull = getenv("SLUICE_SOAK") != nil
      var seeds = SystemRandomNumberGenerator()
      let seed = getenv("SLUICE_SEED").flatMap { UInt64(String(cString: $0)) } ?? seeds.next()
      let chaos = try Chaos(seed: seed)
      // What is allocated once is allocated now.
      try await chaos.run(500, inFlight: 100)
      let descriptors = ProcessFacts().openDescriptorCount
      let memory = ProcessFacts().residentBytes ?? 0
      try await chaos.run(isFull ? 200_000 : 5_000, inFlight: 200)
      let grown = (ProcessFacts().residentBytes ?? 0) - memory
      #expect(Sanitizer.isOn || grown < 48 << 20, "grew by \(grown >> 20) MiB; SLUICE_SEED=\(seed)")
      let left = ProcessFacts().openDescriptorCount - descriptors
      #expect(left <= 4, "\(left) descriptors are left; SLUICE_SEED=\(seed)")
    }
  }
}

/// The server, the stages and the callers, all led by one seed.
private final class Chaos: Sendable {
  private let seed: UInt64
  private let random: Locked<SeededRandom>

  init(seed: UInt64) throws {
    self.seed = seed
    random = Locked(SeededRandom(seed: seed))
  }

  private func draw(_ range: ClosedRange<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }

  /// One engine and one server for so many transactions.
  func run(_ count: Int, inFlight: Int) async throws {
    let server = try EmbeddedServer { [self] in answer($0) }
    defer { server.stop() }
    // Cuts what it serves in the middle of the head or of the body.
    let cutter = try ScriptedServer([
      [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Le"), .reset],
      [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), .reset],
      [.reset], [.receiveHead],
    ])
    let ledger = Locked(LedgerChecker())
    let violations = Locked<[String]>([])
    let ends = Locked<[Int: Int]>([:])
    var configuration = Configuration()
    configuration.transport.loops = 2
    configuration.transport.timeout = .milliseconds(400)
    configuration.deadline = .seconds(2)
    configuration.retry = .standard
    configuration.maxAttempts = 4
    configuration.retry.backoff = Backoff(base: .milliseconds(1), max: .milliseconds(4))
    configuration.append(stage, named: "first")
    configuration.append(stage, named: "second")
    configuration.append(
      StageCode(trace: { event in
        do throws(LedgerViolation) {
          try ledger.withLock { ledger throws(LedgerViolation) in try ledger.check(LedgerEntry(event)) }
        } catch { violations.withLock { $0.append("\(error) (\(LedgerEntry(event)))") } }
      }), named: "ledger")
    let engine = try Engine(configuration)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        if number >= inFlight { await group.next() }
        let request = request(number, server.baseURL, cutter.baseURL)
        let patience = draw(0...9)
        group.addTask {
          let cancellation = Cancellation()
          await withCheckedContinuation { continuation in
            engine.submit(request, cancellation: cancellation) { _ in
              ends.withLock { $0[number, default: 0] += 1 }
              continuation.resume()
            }
            // At once, or from somewhere else a little later.
            if patience == 0 { cancellation.cancel() }
            if patience == 1 {
              Task {
                try? await Task.sleep(for: .microseconds(number % 20_000))
                cancellation.cancel()
              }
            }
          }
        }
      }
    }
    await engine.shutdown()
    #expect(engine.unfinished == [0, 0], "SLUICE_SEED=\(seed)")
    #expect(ends.withLock { $0.count } == count)
    #expect(ends.withLock { $0.values.allSatisfy { $0 == 1 } })
    let violation = violations.withLock { $0.first }
    #expect(violation == nil, "\(violation ?? ""); SLUICE_SEED=\(seed)")
    #expect(throws: Never.self) { try ledger.withLock { try $0.finish() } }
    #expect(ledger.withLock { $0.transactions } == count)
  }

  private func request(_ number: Int, _ server: String, _ cutter: String) -> Request {
    let base =
      switch draw(0...19) {
      case 0: cutter
      case 1: "http://127.0.0.1:1"
      default: server
      }
    let body: Body =
      switch draw(0...5) {
      case 0: .bytes([UInt8](repeating: 65, count: draw(0...200_000)))
      case 1: .stream(BodyStream(byteCount: nil, read: Self.threePieces()))
      default: .empty
      }
    let method = body.isEmpty ? draw(0...1) == 0 ? "GET" : "DELETE" : draw(0...1) == 0 ? "POST" : "PUT"
    // A URL that this test made up is valid.
    guard let url = try? HTTPURL("\(base)/\(number)") else { preconditionFailure(base) }
    var request = Request(method: method, url: url, body: body)
    if draw(0...9) == 0 { request.timeout = .milliseconds(draw(1...60)) }
    return request
  }

  private static func threePieces() -> @Sendable (Int) -> [UInt8]? {
    let left = Locked(3)
    return { maximum in
      left.withLock {
        $0 -= 1
        return $0 < 0 ? nil : [UInt8](repeating: 66, count: min(1000, maximum))
      }
    }
  }

  private func answer(_ request: ServerRequest) -> ServerResponse {
    switch draw(0...24) {
    case 0: return .hangUp
    case 1: return ServerResponse(status: 503, headers: [HeaderLine("Retry-After", "0")])
    case 2: return ServerResponse(status: 429, headers: [HeaderLine("Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT")])
    case 3: return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Bearer realm=\"x\"")])
    case 4, 5: return ServerResponse(status: 302, headers: [HeaderLine("Location", "/elsewhere")])
    case 6: return ServerResponse(status: 307, headers: [HeaderLine("Location", String(request.path))])
    case 7: return ServerResponse(status: 301, headers: [HeaderLine("Location", "http://127.0.0.1:1/")])
    case 8, 9:
      let delay = draw(0...8)
      return .deferred { response in
        Task {
          try? await Task.sleep(for: .milliseconds(delay))
          _ = response.complete(with: .text("late"))
        }
      }
    case 10: return .text(String(repeating: "x", count: draw(0...300_000)))
    default: return .text("ok")
    }
  }

  private var stage: StageCode {
    StageCode(
      request: { [self] request, _ in
        switch draw(0...39) {
        case 0: throw RetryRequestError()
        case 1: throw StageFailure(code: "chance", message: "by chance")
        case 2: throw ResponseOverride(Response(status: 200, body: .text("mine")))
        case 3, 4: await Task.detached {}.value
        case 5: try await Task.sleep(for: .milliseconds(draw(0...5)))
        case 6: request.headers["x-changed"] = "yes"
        default: break
        }
      },
      issue: { [self] headers, _ in
        if draw(0...99) == 0 { throw StageFailure(code: "chance", message: "by chance") }
        headers["x-hop"] = "1"
      },
      response: { [self] response, _ in
        switch draw(0...39) {
        case 0: throw RetryRequestError(after: .milliseconds(draw(0...2)))
        case 1: throw StageFailure(code: "chance", message: "by chance")
        case 2: await Task.yield()
        case 3: try await Task.sleep(for: .milliseconds(draw(0...5)))
        case 4: response.body = .text("changed")
        default: break
        }
      })
  }
}
