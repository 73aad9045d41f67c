import Glibc
import SluiceSupport

/// A program to run, found on `PATH` when its name has no slash.
package struct Command: Sendable {
  package var path: String
  package var arguments: [String]
  /// Variables that are added to the environment of this process. A nil value removes the variable.
  package var environment: [String: String?]
  /// The working folder; nil means that of this process.
  package var workingDirectory: String?

  package init(
    _ path: String, _ arguments: [String] = [], environment: [String: String?] = [:], workingDirectory: String? = nil
  ) {
    self.path = path
    self.arguments = arguments
    self.environment = environment
    self.workingDirectory = workingDirectory
  }

  /// Runs the program to its end and collects both outputs. If the limit passes, kills the program and throws.
  package static func run(
    _ path: String, _ arguments: [String] = [], environment: [String: String?] = [:],
    standardInput: [UInt8] = [], workingDirectory: String? = nil, limit: Duration = .seconds(120)
  ) async throws -> CommandResult {
    let command = Command(path, arguments, environment: environment, workingDirectory: workingDirectory)
    let running = try command.start()
    running.writeAndClose(standardInput)
    return try await running.wait(upTo: limit)
  }

  /// Like `run`, but throws for any status other than 0; the error contains the output of the program.
  @discardableResult
  package static func check(_ path: String, _ arguments: [String] = []) async throws -> CommandResult {
    let result = try await run(path, arguments)
    guard result.ending == .exited(0) else {
      let call = ([path] + arguments).joined(separator: " ")
      throw TestKitError("\(call)\nended with \(result.ending):\n\(result.errorText)\(result.outputText)")
    }
    return result
  }

  /// Starts the program, for tests that communicate with it while it runs.
  package func start() throws -> RunningCommand {
    try RunningCommand(self)
  }

  /// The environment of the child, as `NAME=value` strings.
  var environmentStrings: [String] {
    var all: [String: String] = [:]
    for text in ProcessEnvironment.texts() {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      all[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    for (name, value) in environment { all[name] = value }
    return all.map { "\($0.key)=\($0.value)" }
  }
}
