import Glibc
import SluiceSupport

/// Asks a tool of the system for the source lines of addresses: `llvm-symbolizer`, or `addr2line` if that fails.
enum SourceLines {
  /// Returns `FILE:LINE` or nil for each address. Returns nil if no tool is installed, or if no tool answers before the
  /// deadline. Blocks.
  static func find(_ addresses: [UInt64], in path: String, until deadline: Duration) -> [String?]? {
    let numbers = addresses.map { SignalText.hex($0) }
    let tools = [
      ["llvm-symbolizer", "--output-style=GNU", "--functions=none", "--no-inlines", "--obj=\(path)"],
      ["addr2line", "-e", path],
    ]
    for tool in tools {
      guard let output = ToolOutput.of(tool + numbers, until: deadline) else { continue }
      let lines = output.split(separator: "\n").map(String.init)
      if lines.count == addresses.count { return lines.map(place) }
    }
    return nil
  }

  /// `/src/Auth.swift:42 (discriminator 3)` and `??:0`, as the tools write them.
  private static func place(_ line: String) -> String? {
    let parts = line.split(separator: " ").first?.split(separator: ":", omittingEmptySubsequences: false) ?? []
    guard parts.count >= 2, let number = Int(parts[1]), number > 0, parts[0] != "??", !parts[0].isEmpty else {
      return nil
    }
    return "\(parts[0]):\(number)"
  }
}

/// The standard output of a tool.
enum ToolOutput {
  private static let limitBytes = 1 << 20

  /// Blocks. Returns nil if the tool is not on `PATH`, fails, or takes too long. A tool that takes too long is killed.
  static func of(_ words: [String], until deadline: Duration) -> String? {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let output = FileDescriptor(owning: ends[0])
    guard let process = start(words, FileDescriptor(owning: ends[1])) else { return nil }
    let bytes = read(output.raw, until: deadline)
    if bytes == nil { kill(process, SIGKILL) }
    // If the program waits for all of its children, it might already have reaped this child.
    let status = WaitStatus.wait(for: process) ?? .exited(0)
    guard let bytes, status == .exited(0) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// This process closes its writing end, so that the output ends when the tool ends.
  private static func start(_ words: [String], _ output: consuming FileDescriptor) -> pid_t? {
    var program = ProgramStart(words)
    program.input = .nothing
    program.output = .descriptor(output.raw)
    program.error = .nothing
    return try? program.run()
  }

  private static func read(_ descriptor: CInt, until deadline: Duration) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < limitBytes {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, MonotonicClock.milliseconds(until: deadline))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0, let piece = DescriptorPiece.read(descriptor) else { return nil }
      if piece.isEmpty { return bytes }
      bytes += piece
    }
    return nil
  }
}
