import Foundation
import SluiceServer

/// The servers of the comparison.
final class Servers {
  let site: Site
  private let server: EmbeddedServer
  private let cut: CutServer

  init() throws {
    server = try EmbeddedServer { Self.answer($0) }
    cut = try CutServer()
    site = Site(
      base: server.baseURL, other: "http://localhost:\(server.port)", cut: "http://127.0.0.1:\(cut.port)")
  }

  func stop() { server.stop() }

  private static func answer(_ request: ServerRequest) -> ServerResponse {
    let host = request.headers.first("host") ?? ""
    let port = host.split(separator: ":").last.map(String.init) ?? ""
    switch request.path {
    case "/hello": return .text("hello")
    case "/missing": return .text("missing", status: 404)
    case "/echo": return ServerResponse(body: .bytes(request.body))
    case "/repeated": return ServerResponse(headers: [HeaderLine("X-A", "1"), HeaderLine("X-A", "2")])
    case "/redirect": return moved("http://\(host)/hello")
    case "/relative": return moved("hello?x=1")
    case "/leave": return moved("http://localhost:\(port)/show")
    case "/set": return moved("/show", HeaderLine("Set-Cookie", "sid=1; path=/"))
    case "/show":
      let names = ["authorization", "cookie"]
      let lines = request.headers.filter { names.contains($0.name.lowercased()) }
      return .text(lines.map { "\($0.name.lowercased()): \($0.value)" }.joined(separator: "\n"))
    case "/denied":
      let isKnown = request.headers.first("authorization") == "Basic dTpw"
      return isKnown
        ? .text("welcome")
        : ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"compare\"")])
    default: return .text("nothing here", status: 404)
    }
  }

  private static func moved(_ location: String, _ more: HeaderLine...) -> ServerResponse {
    ServerResponse(status: 302, headers: [HeaderLine("Location", location)] + more)
  }
}

/// A server that cuts off its responses: it sends half of ten bytes and closes the connection. A request with `Range`
/// gets the rest, and `/silent` gets nothing.
final class CutServer: Sendable {
  let port: UInt16

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw Wrong(description: "no socket: \(String(cString: strerror(errno)))") }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        if connection >= 0 { Thread.detachNewThread { Self.serve(connection) } }
      }
    }
  }

  private static func serve(_ connection: Int32) {
    defer { close(connection) }
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      let count = read(connection, &buffer, buffer.count)
      guard count > 0, head.count < 1 << 16 else { return }
      head += buffer[..<count]
    }
    let request = String(decoding: head, as: UTF8.self)
    // Waits until the client gives up.
    if request.hasPrefix("GET /silent ") { return _ = read(connection, &buffer, 1) }
    let fields = "Content-Type: text/plain\r\nETag: \"1\"\r\nConnection: close\r\n"
    let isRest = request.lowercased().contains("\r\nrange: bytes=5-")
    let answer =
      isRest
      ? "HTTP/1.1 206 Partial Content\r\n\(fields)Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\nworld"
      : "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 10\r\n\r\nhello"
    _ = Array(answer.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }
}
