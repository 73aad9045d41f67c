import Sluice
import SluiceTestKit

/// A test fixture with an engine and the lines that it logs.
protocol EngineFixture: Sendable {
  var engine: Engine { get }
  var log: Watched<[LogLine]> { get }
}

extension EngineFixture {
  /// The messages logged so far that contain `text`.
  func lines(_ text: String) -> [String] { log.value.map(\.message).filter { $0.contains(text) } }

  /// Waits until at least `count` lines that contain `text` were logged.
  func waitForLine(_ text: String, count: Int = 1) async throws {
    try await log.wait(for: "a line with \(text)") { lines in lines.count { $0.message.contains(text) } >= count }
  }

  /// Polls the status until the condition holds.
  @discardableResult
  func waitForStatus(_ what: String, until isMet: (EngineStatus) -> Bool) async throws -> EngineStatus {
    var status = await engine.status
    let isReached = try await eventually {
      status = await engine.status
      return isMet(status)
    }
    guard isReached else { throw TestKitError("\(what): not within \(Patience.limit); the status is \(status)") }
    return status
  }
}
