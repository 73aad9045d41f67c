package import SluiceServer
import SluiceTestKit

/// A minimal HTTP/1.1 client on one connection that sends exactly the given bytes.
///
/// Its calls block; the servers of this kit answer from their own threads.
package final class RawClient {
  package struct Response: Sendable {
    package let status: Int
    package let head: MessageHead
    package let body: [UInt8]

    package var headers: [HeaderLine] { head.headers }
    package var bodyText: String { String(decoding: body, as: UTF8.self) }
  }

  package let socket: StreamSocket
  private var pending: [UInt8] = []

  package init(host: String = "127.0.0.1", port: UInt16, limit: Duration = Patience.limit) throws {
    socket = try .connect(host: host, port: port, limit: limit)
  }

  package init(unixSocket path: String, limit: Duration = Patience.limit) throws {
    socket = try .connect(unixSocket: path, limit: limit)
  }

  /// Sends one request and reads its answer. Adds a `Content-Length` if there is a body. The connection stays usable.
  package func request(
    _ method: String = "GET", _ target: String = "/", headers: [String] = [], body: String = ""
  ) throws -> Response {
    let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
    let lines = ["\(method) \(target) HTTP/1.1"] + (hasHost(headers) ? [] : ["Host: localhost"]) + headers + length
    try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    return try readResponse(to: method)
  }

  package func send(_ text: String) throws {
    try socket.write(Array(text.utf8))
  }

  /// Reads a final response, and skips interim responses (1xx). `method` decides whether a body follows.
  package func readResponse(to method: String = "GET") throws -> Response {
    let (status, head) = try readHead()
    if (100...199).contains(status) { return try readResponse(to: method) }
    let hasBody = method != "HEAD" && status != 204 && status != 304
    return Response(status: status, head: head, body: hasBody ? try readBody(head) : [])
  }

  /// Reads the start line and the headers, but not the body; `take` and `skip` read that.
  package func readHead() throws -> (status: Int, head: MessageHead) {
    while true {
      if let end = MessageHead.end(in: pending) {
        let head = MessageHead(take(pendingCount: end))
        let status = head.startLine.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (status ?? 0, head)
      }
      try fill()
    }
  }

  /// Reads exactly `count` bytes.
  package func take(_ count: Int) throws -> [UInt8] {
    while pending.count < count { try fill() }
    return take(pendingCount: count)
  }

  /// Reads and drops bytes as long as they match the pattern. Returns the number of matching bytes, at most `count`.
  package func skip(_ count: Int, expecting pattern: BytePattern) throws -> Int {
    var done = 0
    while done < count {
      if pending.isEmpty { try fill() }
      let piece = take(pendingCount: min(pending.count, count - done))
      guard piece == pattern.bytes(from: UInt64(done), count: piece.count) else { return done }
      done += piece.count
    }
    return done
  }

  /// Reads all bytes until the server closes the connection.
  package func readToEnd() throws -> [UInt8] {
    while case let bytes = try socket.read(), !bytes.isEmpty { pending += bytes }
    return take(pendingCount: pending.count)
  }

  private func hasHost(_ headers: [String]) -> Bool {
    headers.contains { $0.lowercased().hasPrefix("host:") }
  }

  private func fill() throws {
    let bytes = try socket.read()
    guard !bytes.isEmpty else {
      throw TestKitError("the server closed the connection early, after \(pending.count) bytes that are still unread")
    }
    pending += bytes
  }

  private func take(pendingCount count: Int) -> [UInt8] {
    defer { pending.removeFirst(count) }
    return Array(pending[..<count])
  }

  private func readBody(_ head: MessageHead) throws -> [UInt8] {
    if head.isChunked { return try readChunks() }
    if let length = head.contentLength { return try take(length) }
    return try readToEnd()
  }

  private func readChunks() throws -> [UInt8] {
    var body: [UInt8] = []
    while case let size = try readChunkSize(), size > 0 {
      body += try take(size)
      _ = try readLine()
    }
    while try !readLine().isEmpty {}
    return body
  }

  private func readChunkSize() throws -> Int {
    let line = try readLine()
    let digits = line.prefix { $0 != ";" }
    guard let size = Int(digits, radix: 16) else { throw TestKitError("\"\(line)\" is not a chunk size") }
    return size
  }

  private func readLine() throws -> String {
    while true {
      if let end = pending.firstIndex(of: 10) {
        return String(decoding: take(pendingCount: end + 1), as: UTF8.self).filter { !$0.isNewline }
      }
      try fill()
    }
  }
}
