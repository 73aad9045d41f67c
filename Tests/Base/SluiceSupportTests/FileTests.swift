import Glibc
import SluiceSupport
import SluiceTestKit
import Testing

/// What paths lead to.
struct FileTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func link(_ name: String, to target: String) throws -> String {
    try #require(symlink(target, folder.path(name)) == 0)
    return folder.path(name)
  }

  @Test func `a path leads to a file, a stream, a folder or a socket, through any links`() throws {
    try folder.write("x", to: "file")
    try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
    #expect(OutputTarget(at: folder.path("file")) == .file)
    #expect(OutputTarget(at: folder.path("nothing")) == .file)
    #expect(OutputTarget(at: folder.path) == .folder)
    #expect(OutputTarget(at: folder.path("pipe")) == .stream && OutputTarget.isPipe(at: folder.path("pipe")))
    #expect(OutputTarget(at: "/dev/null") == .stream && !OutputTarget.isPipe(at: "/dev/null"))
    #expect(OutputTarget(at: try link("to-pipe", to: "pipe")) == .stream)
    #expect(OutputTarget(at: try link("to-folder", to: ".")) == .folder)
  }

  @Test func `links are followed to the file to replace, and a circle of links is an error`() throws {
    try folder.write("x", to: "file")
    #expect(OutputTarget.following(try link("one", to: "file")) == folder.path("file"))
    #expect(OutputTarget.following(try link("two", to: "one")) == folder.path("file"))
    #expect(OutputTarget.following(try link("to-nothing", to: "nothing")) == folder.path("nothing"))
    _ = try link("left", to: "right")
    #expect(OutputTarget.following(try link("right", to: "left")) == nil)
  }

  @Test func `a FIFO without a reader is an error after the limit, and not before it has a reader`() throws {
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(OutputTarget.open(pipe, O_WRONLY, mode: 0, limit: .milliseconds(1)) == -1 && errno == ENXIO)
    let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    let writer = OutputTarget.open(pipe, O_WRONLY, mode: 0, limit: .seconds(60))
    try #require(writer >= 0)
    #expect(fcntl(writer, F_GETFL) & O_NONBLOCK == 0)
    close(writer)
  }

  @Test func `a file of the kernel, whose size is unknown, is read, and other files are only measured`() throws {
    try folder.write("hello", to: "file")
    guard case .file(5) = try UploadSource(at: folder.path("file")) else {
      Issue.record("a regular file has a size")
      return
    }
    guard case .content(let bytes) = try UploadSource(at: "/proc/version") else {
      Issue.record("the size of a file in /proc is unknown")
      return
    }
    #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("Linux version"))
    #expect { try UploadSource(at: "/proc/version", limitBytes: 4) } throws: { error in
      if case .tooLarge(4)? = error as? UploadSource.Failure { true } else { false }
    }
    #expect { try UploadSource(at: folder.path) } throws: { error in
      if case .notRegular? = error as? UploadSource.Failure { true } else { false }
    }
  }

  @Test func `a folder is listed in order, and what is no folder has no names`() throws {
    for name in ["b", ".a", "c"] { try folder.write("", to: name) }
    #expect(FolderListing.names(in: folder.path) == [".a", "b", "c"])
    #expect(FolderListing.names(in: folder.path("b")).isEmpty)
  }
}
