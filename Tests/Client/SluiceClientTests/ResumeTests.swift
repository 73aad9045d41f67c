import Glibc
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceClient

@Suite struct ResumeTests {
  private static let whole = "0123456789"

  /// A server whose first answer breaks off after four bytes. Its next answers are the given ones.
  private static func server(_ answers: String..., tag: String = "ETag: \"v1\"") throws -> ScriptedServer {
    let first: [ScriptStep] = [
      .receiveHead, .send("HTTP/1.1 200 OK\r\n\(tag)\r\nContent-Length: 10\r\n\r\n0123"), .close,
    ]
    return try ScriptedServer([first] + answers.map { [.receiveHead, .send($0), .close] })
  }

  private static func part(
    _ range: String = "bytes 4-9/10", _ body: String = "456789", tag: String = "ETag: \"v1\"\r\n", more: String = ""
  ) -> String {
    "HTTP/1.1 206 Partial Content\r\nContent-Range: \(range)\r\n\(tag)\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static func full(_ body: String = whole, tag: String = "\"v2\"") -> String {
    "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// Begins a download that breaks off.
  private static func begin(_ client: Client, _ server: ScriptedServer, _ place: DownloadFolder) async throws
    -> ResumeData
  {
    let url = try server.url()
    let failure = await downloadFailure { () throws(DownloadFailure) in
      _ = try await client.download(from: url, to: place.target)
    }
    #expect(failure?.error.code == .connectionLost && place.content() == nil)
    return try #require(failure?.resumeData)
  }

  /// Breaks off a download, resumes it, and calls the body with the failure of the resumed download.
  private static func resume(
    _ server: ScriptedServer, _ body: (Client, DownloadFolder, DownloadFailure?) throws -> Void
  ) async throws {
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let data = try await begin(client, server, place)
      #expect(data.offset == 4 && data.totalBytes == 10 && place.names.count == 1)
      let failure = await downloadFailure { () throws(DownloadFailure) in
        _ = try await client.download(resumeFrom: data, headers: ["x-key": "k"])
      }
      try body(client, place, failure)
    }
  }

  @Test func `the rest of the body is requested and appended`() async throws {
    let server = try Self.server(Self.part())
    try await Self.resume(server) { _, place, failure in
      #expect(failure == nil && place.names == ["file"] && place.content() == Array(Self.whole.utf8))
      let request = server.receivedText[1].lowercased()
      #expect(request.contains("range: bytes=4-\r\n") && request.contains("if-range: \"v1\"\r\n"))
      #expect(request.contains("x-key: k\r\n"))
    }
  }

  @Test func `the error names a partial file that is missing`() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let data = try await Self.begin(client, server, place)
      #expect(unlink(data.partialFile) == 0)
      let failure = await downloadFailure { () throws(DownloadFailure) in
        _ = try await client.download(resumeFrom: data)
      }
      #expect(failure?.error.code == .bodyFile)
      #expect(failure?.error.message == "cannot resume from \(data.partialFile): No such file or directory")
    }
  }

  @Test func `a Last-Modified date that is old enough is used as the validator`() async throws {
    let dates = "Date: Sun, 06 Nov 1994 08:50:37 GMT\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
    let server = try Self.server(Self.part(tag: ""), tag: dates)
    try await Self.resume(server) { _, place, failure in
      #expect(failure == nil && place.content() == Array(Self.whole.utf8))
      #expect(server.receivedText[1].lowercased().contains("if-range: sun, 06 nov 1994 08:49:37 gmt\r\n"))
    }
  }

  @Test func `a file that has changed is downloaded from the start`() async throws {
    try await Self.resume(Self.server(Self.full("abcdefgh"))) { _, place, failure in
      #expect(failure == nil && place.names == ["file"] && place.content() == Array("abcdefgh".utf8))
    }
  }

  @Test func `if the changed file is shorter than the partial file, no byte of the partial file remains`()
    async throws
  {
    try await Self.resume(Self.server(Self.full("x"))) { _, place, failure in
      #expect(failure == nil && place.content() == Array("x".utf8))
    }
  }

  @Test(arguments: [
    "bytes 3-9/10", "bytes 5-9/10", "bytes 0-9/10", "bytes 4-9/11", "bytes 9-4/10", "bytes */10", "items 4-9/10", "",
    "bytes 4-10/10", "bytes +4-9/10", "bytes 4-99999999999999999999/*",
  ])
  func `a part whose Content-Range does not fit is not appended, and the whole body is requested again`(
    _ range: String
  ) async throws {
    let server = try Self.server(Self.part(range), Self.full())
    try await Self.resume(server) { _, place, failure in
      #expect(failure == nil && place.names == ["file"] && place.content() == Array(Self.whole.utf8))
      #expect(!server.receivedText[2].lowercased().contains("range:"))
    }
  }

  @Test func `a part with another ETag is not appended`() async throws {
    let server = try Self.server(Self.part(tag: "ETag: \"v2\"\r\n"), Self.full())
    try await Self.resume(server) { _, place, failure in
      #expect(failure == nil && place.content() == Array(Self.whole.utf8) && server.connectionCount == 3)
    }
  }

  @Test func `a part with a Content-Encoding is not appended`() async throws {
    let server = try Self.server(Self.part(more: "Content-Encoding: x-none\r\n"), Self.full())
    try await Self.resume(server) { _, place, failure in
      #expect(place.content() == Array(Self.whole.utf8) || (failure != nil && place.content() == nil))
    }
  }

  @Test func `a range that cannot be satisfied means that the file has changed`() async throws {
    let server = try Self.server(
      "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */3\r\nContent-Length: 0\r\n\r\n", Self.full("abc"))
    try await Self.resume(server) { _, place, failure in
      #expect(failure == nil && place.content() == Array("abc".utf8))
    }
  }

  @Test func `a part that ends too early does not complete the file, and can be resumed`() async throws {
    try await Self.resume(Self.server(Self.part("bytes 4-6/10", "456"))) { _, place, failure in
      #expect(failure?.error.code == .invalidResponse && failure?.resumeData?.offset == 7 && place.content() == nil)
    }
  }

  @Test func `a part with more bytes than its Content-Range says is refused, and no file is kept`() async throws {
    try await Self.resume(Self.server(Self.part("bytes 4-9/10", "456789extra"))) { _, place, failure in
      #expect(failure?.error.code == .invalidResponse && failure?.resumeData == nil && place.names == [])
    }
  }

  @Test func `a resumed download that breaks off again can be resumed from its new end`() async throws {
    let cut = Self.part().dropLast(4)
    try await Self.resume(Self.server(String(cut))) { _, place, failure in
      #expect(failure?.error.code == .connectionLost && failure?.resumeData?.offset == 6 && place.content() == nil)
    }
  }

  @Test func `the partial file is kept if the server answers with an error`() async throws {
    let answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    try await Self.resume(Self.server(answer)) { _, place, failure in
      #expect(failure?.error.code == .status && failure?.resumeData?.offset == 4 && place.names.count == 1)
    }
  }

  @Test(arguments: [
    "ETag: W/\"v1\"", "ETag: v1", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "X: y",
    "Date: Sun, 06 Nov 1994 08:49:40 GMT\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
    "ETag: \"v1\"\r\nAccept-Ranges: none",
  ])
  func `without a strong validator, no partial file is kept`(_ tag: String) async throws {
    let server = try Self.server(tag: tag)
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

  @Test func `resume data can be stored as a document and read again`() async throws {
    let server = try Self.server(Self.part())
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let data = try await Self.begin(client, server, place)
      let read = try ResumeData(document: data.document)
      #expect(read == data)
      _ = try await client.download(resumeFrom: read)
      #expect(place.content() == Array(Self.whole.utf8))
      // The download is complete, so there is no partial file any more.
      let failure = await downloadFailure { () throws(DownloadFailure) in
        _ = try await client.download(resumeFrom: read)
      }
      #expect(failure?.error.code == .bodyFile && place.content() == Array(Self.whole.utf8))
    }
  }

  @Test(arguments: ["link", "short", "open", "linked twice"])
  func `a partial file that was replaced or changed after the failure is refused`(_ change: String) async throws {
    let server = try Self.server(Self.part())
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let data = try await Self.begin(client, server, place)
      switch change {
      case "link":
        #expect(rename(data.partialFile, place.folder.path("moved")) == 0)
        #expect(symlink(place.folder.path("moved"), data.partialFile) == 0)
      case "short": #expect(truncate(data.partialFile, 3) == 0)
      case "open": #expect(chmod(data.partialFile, 0o644) == 0)
      default: #expect(link(data.partialFile, place.folder.path("second")) == 0)
      }
      let failure = await downloadFailure { () throws(DownloadFailure) in
        _ = try await client.download(resumeFrom: data)
      }
      #expect(failure?.error.code == .bodyFile && server.connectionCount == 1 && place.content() == nil)
    }
  }

  @Test func `extra bytes in the partial file do not become part of the download`() async throws {
    let server = try Self.server(Self.part())
    defer { server.stop() }
    let place = try DownloadFolder()
    try await withClient { client in
      let data = try await Self.begin(client, server, place)
      #expect(truncate(data.partialFile, 9) == 0)
      _ = try await client.download(resumeFrom: data)
      #expect(place.content() == Array(Self.whole.utf8))
    }
  }

  private static func document(
    url: String = "http://h/", target: String = "/a/b", offset: String = "4", total: String = "10",
    partial: String = "/a/.sluice-x.part", tag: String = #""entityTag":"\"v1\"""#, version: Int = 1
  ) -> [UInt8] {
    Array(
      #"{"version":\#(version),"url":"\#(url)","target":"\#(target)","offset":\#(offset),"totalBytes":\#(total),"partialFile":"\#(partial)",\#(tag)}"#
        .utf8)
  }

  @Test func `a document that was changed is refused`() throws {
    _ = try ResumeData(document: Self.document())
    let wrong = [
      Self.document(url: "ftp://h/"), Self.document(target: "b"), Self.document(target: "/a/"),
      Self.document(offset: "-1"), Self.document(offset: "11"), Self.document(offset: "1.5"),
      Self.document(partial: "/a/b"), Self.document(partial: "/b/.sluice-x.part"),
      Self.document(partial: "/a/.sluice-x.part/../b"), Self.document(partial: "/etc/passwd"),
      Self.document(tag: #""entityTag":"W/\"v1\"""#), Self.document(tag: #""entityTag":"\"a\r\nb\"""#),
      Self.document(tag: #""lastModified":"yesterday""#), Self.document(tag: #""x":1"#), Self.document(version: 2),
      [], Array("{".utf8), [UInt8](repeating: 0x20, count: 1 << 19),
    ]
    for document in wrong {
      let error = #expect(throws: TransactionError.self, "\(String(decoding: document.prefix(300), as: UTF8.self))") {
        try ResumeData(document: document)
      }
      #expect(error?.code == .invalidDocument)
    }
  }
}
