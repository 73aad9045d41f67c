import Glibc
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Testing

/// The test process has no free memory, so any allocation ends it.
///
/// The tests are disabled under a sanitizer, because its own allocator would end the process first.
@Suite(.disabled(if: Sanitizer.isOn))
struct MatchAllocationTests {
  @Test func `comparing an ordinary path allocates nothing`() async {
    await #expect(processExitsWith: .success) {
      let (match, requests) = try matchAndRequests("/v1/items/4711.json")
      // The first call runs code that allocates only once.
      exercise(match, requests, rounds: 1)
      ProcessMemory.exhaust()
      exercise(match, requests, rounds: 1000)
      _exit(0)
    }
  }

  @Test func `an allocation ends the test process, so the other test can notice one`() async {
    await #expect(processExitsWith: .failure) {
      let (match, requests) = try matchAndRequests("/v1/items/%2E%2E/" + String(repeating: "a", count: 4000))
      exercise(match, requests, rounds: 1)
      ProcessMemory.exhaust()
      exercise(match, requests, rounds: 1000)
      _exit(0)
    }
  }
}

// In an unoptimized build, the search through hosts and methods allocates.
private func matchAndRequests(_ path: String) throws -> (StageMatch, [Request]) {
  let paths = ["/v2/*", "/v1/*/x/**", "**/a*b", "/*/items/*.json"].map { PathGlob($0) }
  return (StageMatch(paths: paths), [Request(url: try HTTPURL("https://api.example.com\(path)"))])
}

private func exercise(_ match: StageMatch, _ requests: [Request], rounds: Int) {
  // In an unoptimized build, a for loop over a range allocates.
  var round = 0
  while round < rounds {
    _ = match.matches(requests[0])
    round += 1
  }
}
