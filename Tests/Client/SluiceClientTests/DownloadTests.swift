import Glibc
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceClient
import Sluice

/// Returns the failure of a download, or nil if the download succeeds.
func downloadFailure(_ body: () async throws(DownloadFailure) -> Void) async -> DownloadFailure? {
  do throws(DownloadFailure) { try await body() } catch { return error }
  return nil
}

/// A folder with a target for downloads.
struct DownloadFolder {
  let folder: TemporaryDirectory
  var target: String { folder.path("file") }

  init() throws { folder = try TemporaryDirectory() }

  /// The names of the files in the folder, including hidden files.
  var names: [String] { FolderListing.names(in: folder.path) }

  func content(_ name: String = "file") -> [UInt8]? {
    FileDescriptor(opening: folder.path(name), O_RDONLY)?.readAll(capacity: 1 << 24)
  }

  func mode(_ name: String) -> mode_t? {
    var status = stat()
    return lstat(folder.path(name), &status) == 0 ? status.st_mode : nil
  }
}

@Suite struct DownloadTests {
  @Test(arguments: [0, 1, 5_000_000]) func `a download writes the whole body to one file`(count: Int) async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(pattern, byteCount: UInt64(count), chunked: count == 1))
    }
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let response = try await client.download(from: server.url(), to: place.target)
      #expect(response.status == 200 && response.body.isEmpty)
      #expect(place.content() == pattern.bytes(from: 0, count: count) && place.names == ["file"])
      #expect(place.mode("file") == S_IFREG | 0o600)
      #expect(server.requests.first?.value(of: "accept-encoding") == nil)
    }
  }

  @Test(arguments: ["gzip", "x-gzip", "br", "unknown"], [nil, "gzip"])
  func `a download stores what the server sends, whatever its content coding`(
    _ coding: String, _ asked: String?
  ) async throws {
    let content = EncodedBody.bytes(.gzip, Array("hello".utf8))
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("Content-Encoding", coding)], body: .bytes(content))
    }
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      var request = Request(url: try server.url())
      request.headers["accept-encoding"] = asked
      let response = try await client.download(for: request, to: place.target)
      #expect(place.content() == content && response.headers["content-encoding"] == coding)
      #expect(server.requests.first?.value(of: "accept-encoding") == asked)
    }
  }

  @Test func `the file is hidden and private until it is complete`() async throws {
    let rest = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .wait(rest), .send("cd"))
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let url = try server.url()
      let task = Task { try await client.download(from: url, to: place.target) }
      try await server.waitForConnections(1)
      // The file exists before the request is sent.
      #expect(place.names.count == 1 && place.names.allSatisfy { $0.hasPrefix(".sluice-") })
      #expect(place.mode(place.names[0]) == S_IFREG | 0o600)
      rest.set()
      _ = try await task.value
      #expect(place.content() == Array("abcd".utf8) && place.names == ["file"])
    }
  }

  @Test(arguments: [404, 500, 301, 206])
  func `a response with an error status does not change the target`(status: Int) async throws {
    let server = try LoopbackServer { _ in .text("error page", status: status) }
    defer { server.stop() }
    let place = try DownloadFolder()
    try place.folder.write("old", to: "file")
    for acceptsEveryStatus in [true, false] {
      try await withClient(acceptsEveryStatus: acceptsEveryStatus) { client in
        let url = try server.url()
        let failure = await downloadFailure { () throws(DownloadFailure) in
          _ = try await client.download(from: url, to: place.target)
        }
        #expect(failure?.error.code == (status == 206 ? .invalidResponse : .status) && failure?.resumeData == nil)
        #expect(place.names == ["file"] && place.content() == Array("old".utf8))
      }
    }
  }

  @Test func `a download that breaks off and cannot be resumed leaves no file behind`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close)
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let url = try server.url()
      let failure = await downloadFailure { () throws(DownloadFailure) in
        _ = try await client.download(from: url, to: place.target)
      }
      #expect(failure?.error.code == .connectionLost && failure?.resumeData == nil && place.names == [])
    }
  }

  @Test(arguments: [false, true]) func `a cancelled download leaves no file behind`(byHandle: Bool) async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .receiveToEnd)
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let url = try server.url()
      let handle = Cancellation()
      let task = Task {
        await downloadFailure { () throws(DownloadFailure) in
          _ = try await client.download(from: url, to: place.target, cancellation: handle)
        }
      }
      try await server.waitForConnections(1)
      if byHandle { handle.cancel() } else { task.cancel() }
      #expect(await task.value?.error.code == .cancelled && place.names == [])
      // Repeats the download with a handle that is already cancelled before the call.
      let again = await downloadFailure { () throws(DownloadFailure) in
        if byHandle { _ = try await client.download(from: url, to: place.target, cancellation: handle) }
      }
      #expect(!byHandle || again?.error.code == .cancelled)
      #expect(place.names == [])
    }
  }

  @Test func `a full disk is reported with its own error code`() throws {
    guard let full = FileDescriptor(opening: "/dev/full", O_WRONLY),
      let folder = FileDescriptor(opening: "/tmp", O_RDONLY)
    else { throw TestKitError("cannot open /dev/full or /tmp") }
    let file = PartialFile(testing: full, folder: folder, target: "/tmp/x")
    guard case .failure(let error) = file.write([[1, 2, 3]], at: 0) else { throw TestKitError("no failure") }
    #expect(error.code == .diskFull)
    #expect(error.message == "cannot write the file for /tmp/x: No space left on device; free some space there")
  }

  @Test func `if its file cannot grow, a download fails and can be resumed`() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let server = try LoopbackServer { _ in
        ServerResponse(
          headers: [HeaderLine("ETag", "\"v1\"")], body: .generated(pattern, byteCount: 3_000_000, chunked: false))
      }
      let place = try DownloadFolder()
      var limit = rlimit(rlim_cur: 200_000, rlim_max: rlim_t.max)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let client = try Client()
      let url = try server.url()
      let failure = await downloadFailure { () throws(DownloadFailure) in
        _ = try await client.download(from: url, to: place.target)
      }
      #expect(failure?.error.code == .diskFull)
      // If the first write already failed, there is no partial file.
      #expect(place.names.count == (failure?.resumeData == nil ? 0 : 1))
      #expect(place.content() == nil)
      await client.shutdown()
      server.stop()
    }
  }

  @Test func `an impossible path fails before the request`() async throws {
    let server = try LoopbackServer { _ in .text("x") }
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let url = try server.url()
      for path in [place.folder.path("missing/file"), "", place.folder.path + "/", place.folder.path("..")] {
        let failure = await downloadFailure { () throws(DownloadFailure) in
          _ = try await client.download(from: url, to: path)
        }
        #expect(failure?.error.code == .bodyFile, "\(path)")
      }
      #expect(server.requestCount == 0 && place.names == [])
    }
  }

  @Test func `many downloads to the same target leave one complete file`() async throws {
    let server = try LoopbackServer { request in
      ServerResponse(body: .bytes([UInt8](repeating: UInt8(request.target.utf8.last ?? 0), count: 100_000)))
    }
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          let url = try server.url("/\(number)")
          group.addTask { _ = try await client.download(from: url, to: place.target) }
        }
        try await group.waitForAll()
      }
      let content = place.content() ?? []
      #expect(content.count == 100_000 && Set(content).count == 1 && place.names == ["file"])
    }
  }

  @Test func `without a target, the file is written to the folder for temporary files`() async throws {
    let server = try LoopbackServer { _ in .text("x") }
    defer { server.stop() }
    try await withClient { client in
      let (path, _) = try await client.download(from: server.url())
      #expect(FileDescriptor(opening: path, O_RDONLY)?.readAll(capacity: 10) == Array("x".utf8))
      unlink(path)
    }
  }
}
