import SluiceTestKit
import Testing

@testable import SluicePlugin

/// `SharedCall` over a stub of the C table. The plugin oauth-refresh uses it with real requests.
struct SharedCallTests {
  private struct Refused: Error {}

  private let stub = StubHost()
  private let count = Watched(0)

  private func operation(_ gate: Signal) -> @Sendable () async throws -> Int {
    { [count] in
      count.update { $0 += 1 }
      try await gate.wait()
      return count.value
    }
  }

  @Test func `calls at the same time share one run, and a later call starts another`() async throws {
    let call = SharedCall<Int>(PluginHost(stub.table))
    let gate = Signal()
    let first = call.start(operation(gate))
    try await count.wait { $0 == 1 }
    #expect(call.running != nil)
    let joined = (0..<20).map { _ in call.start { 0 } }
    gate.set()
    for task in joined + [first] { #expect(try await task.value == 1) }
    #expect(call.running == nil)
    #expect(try await call.value(operation(gate)) == 2)
  }

  @Test func `every caller gets the error of the run, and the next call tries again`() async throws {
    let call = SharedCall<Int>(PluginHost(stub.table))
    let gate = Signal()
    let first = call.start {
      try await gate.wait()
      throw Refused()
    }
    let second = call.start { 7 }
    gate.set()
    for task in [first, second] { await #expect(throws: Refused.self) { try await task.value } }
    #expect(try await call.value { 7 } == 7)
  }

  @Test func `a caller that is cancelled does not end the run for the others`() async throws {
    let call = SharedCall<Int>(PluginHost(stub.table))
    let gate = Signal()
    let operation = operation(gate)
    let starter = Task { try await call.value(operation) }
    try await count.wait { $0 == 1 }
    starter.cancel()
    let other = call.start { 0 }
    gate.set()
    #expect(try await other.value == 1)
  }
}
