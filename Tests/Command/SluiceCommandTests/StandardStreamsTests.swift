import Glibc
import SluiceTestKit
import Testing

@testable import SluiceCommand

/// Standard streams in any state in which a parent process can leave them.
@Suite struct StandardStreamsTests {
  @Test func `a write or a read waits until a non-blocking pipe is ready`() async throws {
    StandardSignals.ignoreBrokenPipes()
    var ends: [Int32] = [-1, -1]
    let status = pipe(&ends)
    try #require(status == 0)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      #expect(fcntl(end, F_SETFL, O_NONBLOCK) == 0)
    }
    let (first, last) = (try #require(ends.first), try #require(ends.last))
    let (reader, writer) = (FileDescriptor(adopting: first), FileDescriptor(adopting: last))
    // This is much more than a pipe holds, so the writer or the reader must wait for the other.
    let text = String(repeating: "x", count: 16 << 20)
    async let failure = blocking { () -> Int32? in
      defer { writer.close() }
      return Descriptors.write(text, to: writer.number)
    }
    let bytes = try await blocking { try Descriptors.readAll(reader.number, name: "the pipe") }
    let errorNumber = try await failure
    #expect(errorNumber == nil)
    #expect(bytes.count == 16 << 20)
  }

  @Test func `if a folder or a file that is too large is read, the error names it and says what to do`() throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("eleven byte", to: "large")
    let usage = #expect(throws: CommandError.self) { try FileContent.read(folder.path) }
    #expect(usage?.status == .usage && usage?.message == "cannot read \(folder.path): Is a directory")
    let reader = FileDescriptor(adopting: open(file, O_RDONLY | O_CLOEXEC))
    let large = #expect(throws: CommandError.self) {
      try Descriptors.readAll(reader.number, name: file, limitBytes: 10, advice: "raise it")
    }
    #expect(large?.status == .failed && large?.message == "cannot read \(file): it has more than 10 bytes; raise it")
  }
}
