import Glibc
import SluiceTestKit
import Testing

@testable import SluiceAssembly

/// Tests how whole files are read: configurations, and files that a configuration names with `{"file": …}`.
@Suite struct FileTextTests {
  private static func read(_ path: String, limitBytes: Int = .max, pipeLimit: Duration = Patience.limit) -> String {
    do {
      return String(decoding: try FileText.read(path, limitBytes: limitBytes, pipeLimit: pipeLimit), as: UTF8.self)
    } catch {
      return "error: \(error)"
    }
  }

  /// A pipe with a path, as the shell's `<(…)` passes it.
  private final class Pipe {
    let ends: (read: Int32, write: Int32)

    init() throws {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { throw TestKitError("pipe: \(errno)") }
      self.ends = (ends[0], ends[1])
    }

    var path: String { "/proc/self/fd/\(ends.read)" }
    func write(_ text: String) { _ = text.withCString { Glibc.write(ends.write, $0, strlen($0)) } }
    func closeWriter() { close(ends.write) }
    deinit { close(ends.read) }
  }

  @Test func `a regular file is read whole, up to the limit`() throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("text", to: "file")
    #expect(Self.read(file) == "text")
    #expect(Self.read(file, limitBytes: 3) == "error: it is larger than 3 bytes")
    #expect(Self.read(folder.path("missing")) == "error: No such file or directory")
    #expect(Self.read(folder.path) == "error: Is a directory")
  }

  @Test func `a pipe is read to its end`() throws {
    let pipe = try Pipe()
    pipe.write("from a pipe")
    pipe.closeWriter()
    #expect(Self.read(pipe.path) == "from a pipe")
    #expect(Self.read("/dev/null") == "")
    #expect(Self.read("/dev/zero") == "error: it is larger than \(64 << 20) bytes")
  }

  @Test func `a read of a FIFO waits until it is written to`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let text = Task.detached { Self.read(path) }
    // `open` returns as soon as the reader has opened the FIFO.
    let writer = open(path, O_WRONLY | O_CLOEXEC)
    _ = write(writer, "late", 4)
    close(writer)
    #expect(await text.value == "late")
  }

  @Test func `the wait for a FIFO without a writer has a limit`() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let words =
      "it is a pipe, and nothing has been written to it within 1ms; write to it in that time, or name a regular file"
    #expect(Self.read(path, pipeLimit: .milliseconds(1)) == "error: \(words)")
  }

  @Test func `the wait for the end of a pipe has a limit`() throws {
    let pipe = try Pipe()
    pipe.write("half")
    let words =
      "it is a pipe, and its writer has not closed it within 1ms; write to it in that time, or name a regular file"
    #expect(Self.read(pipe.path, pipeLimit: .milliseconds(1)) == "error: \(words)")
    pipe.closeWriter()
  }
}
