import Glibc
import Sluice
import SluiceMessages
import SluiceTestKit
import SluiceTraceContext
import Testing

@testable import SluiceAssembly
@testable import SluicePipeline

/// The tests run in a process without free memory, so any code that allocates ends it. A sanitizer would end the
/// process first, so the tests do not run with one.
@Suite(.enabled(if: getenv("SLUICE_SANITIZER") == nil))
struct MetricsAllocationTests {
  @Test func `counting a transaction allocates nothing`() async {
    await #expect(processExitsWith: .success) {
      let stage = MetricsStage(loops: 1)
      let events = try ledger()
      // This first round runs the code that allocates only at its first call.
      count(events, stage, rounds: 1)
      ProcessMemory.exhaust()
      count(events, stage, rounds: 1000)
      _exit(0)
    }
  }
}

/// The events of a transaction with one retry.
private func ledger() throws -> [TraceEvent] {
  let loop = IdleLoop()
  let exchange = Exchange(
    loop: loop, id: TransactionID(using: &loop.random), request: Request(url: HTTPURL("http://a.example/")),
    started: loop.now, deadline: .distantFuture, parent: ParentContext(), requestIDHeader: "X-Request-ID")
  let kinds: [TraceEvent.Kind] = [
    .willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .willRetry, .didIssue, .didReceive, .didEndHop,
    .didValidateResponse, .didExtract, .didValidatePayload, .didComplete,
  ]
  return kinds.map {
    TraceEvent(
      kind: $0, sequence: 0, time: Instant(nanoseconds: 5000), exchange: exchange, status: 200, receivedStatus: nil,
      outcome: .succeeded, error: nil, durationNanoseconds: 0, finalTimings: TransferTimings())
  }
}

private func count(_ events: [TraceEvent], _ stage: MetricsStage, rounds: Int) {
  // These are while loops because a for loop allocates in an unoptimized build.
  var round = 0
  while round < rounds {
    var index = 0
    while index < events.count {
      stage.record(events[index])
      index += 1
    }
    round += 1
  }
}

/// A loop on which nothing runs. `@unchecked Sendable` is safe because only one thread uses it.
private final class IdleLoop: EventLoop, @unchecked Sendable {
  let index = 0
  let isCurrent = true
  let now = Instant(nanoseconds: 1000)
  let wallClock = Duration.zero
  var random = RandomBits()

  func post(_ job: @escaping @Sendable () -> Void) {}
  func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget) {}
  func disarm(_ timer: LoopTimer) {}
}
