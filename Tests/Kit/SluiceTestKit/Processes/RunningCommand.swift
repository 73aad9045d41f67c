import Dispatch
import Glibc
import Synchronization

/// A child process with its standard input open. It is killed when this object is released.
package final class RunningCommand: Sendable {
  package let processID: Int32
  private let command: Command
  private let input: FileDescriptor
  private let output = Watched<[UInt8]>([])
  private let errors = Watched<[UInt8]>([])
  private let openStreams = Watched(2)
  private let ending = Watched<CommandResult.Ending?>(nil)

  init(_ command: Command) throws {
    self.command = command
    let (inputReader, inputWriter) = try FileDescriptor.pipe()
    let (outputReader, outputWriter) = try FileDescriptor.pipe()
    let (errorReader, errorWriter) = try FileDescriptor.pipe()
    input = inputWriter
    StandardSignals.ignoreBrokenPipes()
    processID = try ChildProcess.spawn(command, input: inputReader, output: outputWriter, error: errorWriter)
    Self.collect(outputReader, into: output, openStreams)
    Self.collect(errorReader, into: errors, openStreams)
    Self.reap(processID, into: ending)
  }

  deinit { send(signal: SIGKILL) }

  /// Writes to the child's standard input. Blocks while the pipe is full, and throws if the child has closed its end.
  package func write(_ bytes: [UInt8]) throws {
    try input.write(bytes)
  }

  package func write(_ text: String) throws {
    try write(Array(text.utf8))
  }

  package func closeInput() {
    input.close()
  }

  /// Writes to the child's standard input from a separate thread, and then closes it. It is not an error if the child
  /// does not read.
  package func writeAndClose(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return closeInput() }
    Threads.start { [input] in
      try? input.write(bytes)
      input.close()
    }
  }

  /// Sends a signal to the child. Does nothing if the child has ended.
  package func send(signal: Int32) {
    // `reap` stores the ending under the same lock, and frees the process id only then. So the signal never reaches
    // another process with the same id.
    ending.update { [processID] ending in
      if ending == nil { _ = kill(processID, signal) }
    }
  }

  package var hasEnded: Bool { ending.value != nil }
  package var outputSoFar: String { String(decoding: output.value, as: UTF8.self) }
  package var errorSoFar: String { String(decoding: errors.value, as: UTF8.self) }

  /// Suspends until the child has written this text to its standard output.
  package func waitForOutput(containing text: String, upTo limit: Duration = Patience.limit) async throws {
    try await output.wait(upTo: limit, for: "\"\(text)\" on standard output") { bytes in
      String(decoding: bytes, as: UTF8.self).contains(text)
    }
  }

  /// Suspends until the child's standard output satisfies the condition.
  package func waitForOutput(
    _ what: String, upTo limit: Duration = Patience.limit, until isMet: @escaping @Sendable ([UInt8]) -> Bool
  ) async throws {
    try await output.wait(upTo: limit, for: what, until: isMet)
  }

  /// Suspends until the child has written this text to its standard error.
  package func waitForError(containing text: String, upTo limit: Duration = Patience.limit) async throws {
    try await errors.wait(upTo: limit, for: "\"\(text)\" on standard error") { bytes in
      String(decoding: bytes, as: UTF8.self).contains(text)
    }
  }

  /// Suspends until the child has ended and its outputs are read. If the limit passes, kills the child and throws.
  package func wait(upTo limit: Duration = .seconds(120)) async throws -> CommandResult {
    do {
      try await ending.wait(upTo: limit) { $0 != nil }
    } catch {
      send(signal: SIGKILL)
      throw TestKitError("\(command.path) did not end within \(limit); it said:\n\(errorSoFar)")
    }
    try await openStreams.wait(upTo: limit, for: "the outputs of \(command.path) to be closed") { $0 == 0 }
    guard let ending = ending.value else { throw TestKitError("\(command.path) has no ending") }
    return CommandResult(ending: ending, standardOutput: output.value, standardError: errors.value)
  }

  private static func collect(_ stream: FileDescriptor, into bytes: Watched<[UInt8]>, _ open: Watched<Int>) {
    Threads.start {
      while let piece = try? stream.read(), !piece.isEmpty { bytes.update { $0 += piece } }
      open.update { $0 -= 1 }
    }
  }

  private static func reap(_ process: pid_t, into ending: Watched<CommandResult.Ending?>) {
    Threads.start {
      // The first wait does not reap the child (WNOWAIT), so its process id stays in use until the ending is stored.
      var information = siginfo_t()
      while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
      ending.update { ending in
        var status: Int32 = 0
        waitpid(process, &status, 0)
        let signal = status & 0x7f
        ending = signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
      }
    }
  }
}
