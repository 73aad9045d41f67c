import Glibc
import SluicePipeline
import SluiceTestKit
import Testing

/// The test process has no free memory, so any allocation ends it.
///
/// The tests are disabled under a sanitizer, because its own allocator would end the process first.
@Suite(.disabled(if: Sanitizer.isOn))
struct AllocationTests {
  @Test func `recording allocates nothing`() async {
    await #expect(processExitsWith: .success) {
      let metrics = PipelineMetrics(requestStages: ["a"], issueStages: ["b"], responseStages: ["c"], tracers: ["t"])
      // The first call runs code that allocates only once.
      exercise(metrics, rounds: 1)
      ProcessMemory.exhaust()
      exercise(metrics, rounds: 1000)
      _exit(0)
    }
  }

  @Test func `an allocation ends the test process, so the other test can notice one`() async {
    await #expect(processExitsWith: .failure) {
      ProcessMemory.exhaust()
      let metrics = PipelineMetrics(requestStages: ["a"], issueStages: ["b"], responseStages: ["c"], tracers: ["t"])
      exercise(metrics, rounds: 1)
      _exit(0)
    }
  }
}

private func exercise(_ metrics: PipelineMetrics, rounds: UInt64) {
  // In an unoptimized build, a for loop over a range allocates.
  var round: UInt64 = 0
  while round < rounds {
    metrics.transactionDidBegin()
    metrics.countAttempt()
    metrics.recordStage(.request, 0, nanoseconds: round)
    metrics.recordStage(.issue, 0, nanoseconds: round << 10)
    metrics.countHop()
    metrics.recordStage(.response, 0, nanoseconds: round << 20)
    metrics.recordStage(.failure, 0, nanoseconds: round << 40)
    metrics.countFault(.request, 0, isSkipped: true)
    metrics.countTimeout(.response, 0, isSkipped: false)
    metrics.countRetry()
    metrics.countRedirect()
    metrics.recordTracer(0, nanoseconds: round)
    metrics.addBytes(sent: 100, received: 200)
    metrics.transactionDidComplete(.succeeded, status: 200, nanoseconds: round &* 1000)
    round += 1
  }
}
