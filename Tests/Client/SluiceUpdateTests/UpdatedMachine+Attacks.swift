import SluiceJSON
import SluiceTestKit
import SluiceUpdate
import SluiceUpdateRules
import Testing

extension UpdatedMachine {
  /// Checks that a look after the attack fails with this code, and that release 1 still serves. If there is a repair,
  /// checks that a look after the repair installs release 2.
  func refuses(
    _ code: UpdateError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ attack: () async throws -> Void,
    repair: (() async throws -> Void)? = nil
  ) async throws {
    try await releases.publish("1.0")
    try await UpdatedEngine.run(on: self) { running in
      try await attack()
      let result = await running.updater.check()
      #expect(result.action == .failed && result.error?.code == code, "\(result)", sourceLocation: sourceLocation)
      let (build, installed) = (try await running.build(), try status()["installed"]?.integer)
      #expect(build == "1.0" && installed == 1, sourceLocation: sourceLocation)
      #expect(FileTree.names(in: path("builds")).count == 1, sourceLocation: sourceLocation)
      guard let repair else { return }
      try await repair()
      let repaired = await running.updater.check()
      #expect(repaired.action == .installed && repaired.release == 2, "\(repaired)", sourceLocation: sourceLocation)
    }
  }

  /// Looks for a release on this machine without an engine.
  func look(_ timing: Updater.Timing = .immediate) async throws -> UpdateResult { try await updater().check(timing) }

  /// Looks for a release, and expects that it is installed.
  func installs(
    _ release: Int64, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await look()
    #expect(result.action == .installed && result.release == release, "\(result)", sourceLocation: sourceLocation)
  }

  /// Looks for a release, and expects an error.
  func fails(_ code: UpdateError.Code, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let result = try await look()
    #expect(result.action == .failed && result.error?.code == code, "\(result)", sourceLocation: sourceLocation)
  }

  func expectInstalled(_ release: Int64?, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let installed = try status()["installed"]?.integer
    #expect(installed == release, sourceLocation: sourceLocation)
  }
}
