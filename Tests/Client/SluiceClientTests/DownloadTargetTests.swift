import Glibc
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceClient

/// Downloads to paths that are not regular files.
@Suite struct DownloadTargetTests {
  private static func server(_ byteCount: Int = 3) throws -> LoopbackServer {
    try LoopbackServer { _ in
      ServerResponse(
        headers: [HeaderLine("ETag", "\"v1\"")],
        body: .generated(pattern, byteCount: UInt64(byteCount), chunked: false))
    }
  }

  /// Reads a descriptor to the end, on a thread of its own.
  private static func readAll(_ descriptor: CInt) async -> [UInt8] {
    await Handover<[UInt8]>.wait { result in
      _ = SystemThread.start {
        let file = FileDescriptor(owning: descriptor)
        result.give(file.readAll(capacity: 1 << 24) ?? [])
      }
    }
  }

  @Test func `a FIFO gets the body while it arrives, and stays a FIFO`() async throws {
    let server = try Self.server(3_000_000)
    defer { server.stop() }
    let place = try DownloadFolder()
    try #require(mkfifo(place.target, 0o644) == 0)
    // A reader that is opened without waiting for a writer, and then reads as usual.
    let descriptor = open(place.target, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(descriptor >= 0)
    _ = fcntl(descriptor, F_SETFL, 0)
    try await withClient { client in
      let url = try server.url()
      let task = Task { try await client.download(from: url, to: place.target) }
      try await server.waitForRequests(1)
      #expect(await Self.readAll(descriptor) == pattern.bytes(from: 0, count: 3_000_000))
      #expect(try await task.value.status == 200)
    }
    #expect(place.mode("file") == S_IFIFO | 0o644 && place.names == ["file"])
  }

  @Test func `a device is written and not replaced, through symbolic links too`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let place = try DownloadFolder()
    try #require(symlink("/dev/null", place.folder.path("link")) == 0 && symlink("link", place.target) == 0)
    // Only a privileged process can make a device node.
    let node = place.folder.path("node")
    let hasNode = mknod(node, S_IFCHR | 0o622, 0x103) == 0
    let before = place.mode("node")
    try await withClient { client in
      for path in hasNode ? [place.target, node] : [place.target] {
        let response = try await client.download(from: server.url(), to: path)
        #expect(response.status == 200)
      }
    }
    #expect(place.mode("file").map { $0 & S_IFMT } == S_IFLNK && place.mode("link").map { $0 & S_IFMT } == S_IFLNK)
    #expect(place.mode("node") == before && place.names == (hasNode ? ["file", "link", "node"] : ["file", "link"]))
  }

  @Test func `a full device is reported as a full disk`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    try await withClient { client in
      let url = try server.url()
      let failure = await downloadFailure { () throws(DownloadFailure) in
        _ = try await client.download(from: url, to: "/dev/full")
      }
      #expect(failure?.error.code == .diskFull && failure?.resumeData == nil)
    }
  }

  @Test func `a FIFO without a reader fails at the timeout of the request, and nothing is sent`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let place = try DownloadFolder()
    try #require(mkfifo(place.target, 0o600) == 0)
    try await withClient { client in
      var request = Request(url: try server.url())
      request.timeout = .milliseconds(100)
      let failure = await downloadFailure { [request] () throws(DownloadFailure) in
        _ = try await client.download(for: request, to: place.target)
      }
      #expect(failure?.error.code == .bodyFile && failure?.error.isBeforeSending == true)
      #expect(failure?.error.message.contains("no process has opened the pipe") == true)
    }
    #expect(server.requestCount == 0 && place.mode("file") == S_IFIFO | 0o600)
  }

  @Test func `a download that waits for the reader of a FIFO can be cancelled`() async throws {
    let place = try DownloadFolder()
    try #require(mkfifo(place.target, 0o600) == 0)
    try await withClient { client in
      let task = Task {
        await downloadFailure { () throws(DownloadFailure) in
          _ = try await client.download(from: "http://127.0.0.1:1/", to: place.target)
        }
      }
      task.cancel()
      #expect(await task.value?.error.code == .cancelled)
    }
  }

  @Test func `a reader that never reads holds a download no longer than its timeout`() async throws {
    let server = try Self.server(8_000_000)
    defer { server.stop() }
    let place = try DownloadFolder()
    try #require(mkfifo(place.target, 0o600) == 0)
    let descriptor = open(place.target, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(descriptor) }
    try await withClient { client in
      var request = Request(url: try server.url())
      request.timeout = .milliseconds(300)
      let failure = await downloadFailure { [request] () throws(DownloadFailure) in
        _ = try await client.download(for: request, to: place.target)
      }
      #expect(failure?.error.code == .deadline && failure?.resumeData == nil)
    }
  }

  @Test(arguments: ["other", "missing"])
  func `a symbolic link at the target stays, and the file behind it is replaced`(_ name: String) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let place = try DownloadFolder()
    try place.folder.makeFolder("folder")
    try place.folder.write("old", to: "folder/other")
    try #require(symlink(name, place.folder.path("folder/link")) == 0)
    try #require(symlink("folder/link", place.target) == 0)
    try await withClient { client in _ = try await client.download(from: server.url(), to: place.target) }
    #expect(place.mode("file").map { $0 & S_IFMT } == S_IFLNK)
    #expect(place.content("folder/\(name)") == pattern.bytes(from: 0, count: 3))
    #expect(place.mode("folder/\(name)") == S_IFREG | 0o600)
  }

  @Test func `a loop of symbolic links, a socket and a folder are refused before the request`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let place = try DownloadFolder()
    try place.folder.makeFolder("folder")
    try #require(symlink("file", place.target) == 0)
    try #require(mknod(place.folder.path("socket"), S_IFSOCK | 0o600, 0) == 0)
    try await withClient { client in
      let url = try server.url()
      for name in ["file", "socket", "folder"] {
        let failure = await downloadFailure { () throws(DownloadFailure) in
          _ = try await client.download(from: url, to: place.folder.path(name))
        }
        #expect(failure?.error.code == .bodyFile, "\(name)")
      }
    }
    #expect(server.requestCount == 0 && place.names == ["file", "folder", "socket"])
  }

  /// Removes, replaces or moves the partial file while a download waits for the rest of its body.
  @Test(arguments: ["remove", "replace", "move the folder"])
  func `without the partial file there is no resume data, and no other file takes its place`(
    _ change: String
  ) async throws {
    let rests = [Signal(), Signal()]
    let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n0123"
    // The first download breaks off; the second gets its whole body.
    let server = try ScriptedServer([
      [.receiveHead, .send(head), .wait(rests[0]), .close],
      [.receiveHead, .send(head), .wait(rests[1]), .send("456789")],
    ])
    defer { server.stop() }
    let place = try DownloadFolder()
    try place.folder.makeFolder("folder")
    let target = place.folder.path("folder/file")
    try await withClient({ $0.maximumAttempts = 1 }) { client in
      let url = try server.url()
      for (number, rest) in zip(1..., rests) {
        let task = Task {
          await downloadFailure { () throws(DownloadFailure) in _ = try await client.download(from: url, to: target) }
        }
        try await server.waitForConnections(number)
        let name = try #require(FolderListing.names(in: place.folder.path("folder")).first)
        let partial = place.folder.path("folder/\(name)")
        switch change {
        case "remove": try #require(unlink(partial) == 0)
        case "replace":
          try #require(unlink(partial) == 0)
          try place.folder.write("foreign", to: "folder/\(name)")
        default:
          try #require(rename(place.folder.path("folder"), place.folder.path("moved\(number)")) == 0)
          try place.folder.makeFolder("folder")
        }
        rest.set()
        let failure = await task.value
        #expect(failure != nil && failure?.resumeData == nil, "\(change) \(number)")
        #expect(place.content("folder/file") == nil)
      }
    }
  }
}
