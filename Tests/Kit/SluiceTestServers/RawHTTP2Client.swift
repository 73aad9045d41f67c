import SluiceTestKit

/// A minimal client that sends exactly the given frames of HTTP/2 on one connection. Its calls block.
package final class RawHTTP2Client {
  package let socket: StreamSocket
  private var pending: [UInt8] = []
  /// All frames that were received, in their order.
  package private(set) var received: [HTTP2Frame.Received] = []

  package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// Connects, and sends the preface and a SETTINGS frame.
  package init(port: UInt16, settings: [UInt8] = HTTP2Frame.settings) throws {
    socket = try .connect(port: port)
    try send(Self.preface + settings)
  }

  /// Uses a connection on which nothing was sent.
  package init(on socket: StreamSocket) { self.socket = socket }

  package func send(_ bytes: [UInt8]) throws { try socket.write(bytes) }

  /// The fields of a request in HPACK without compression.
  package static func head(
    _ method: String = "GET", _ path: String = "/", authority: String? = "localhost", _ fields: [(String, String)] = []
  ) -> [UInt8] {
    var all = [(":method", method), (":scheme", "http"), (":path", path)]
    if let authority { all.append((":authority", authority)) }
    return (all + fields).flatMap { HTTP2Frame.field($0.0, $0.1) }
  }

  /// Reads frames until one fulfils the condition, and returns it. Fails if the server closes the connection before.
  @discardableResult
  package func read(until isWanted: (HTTP2Frame.Received) -> Bool) throws -> HTTP2Frame.Received {
    while true {
      if let frame = try next() {
        if isWanted(frame) { return frame }
      } else if try !fill() {
        throw TestKitError("the server closed the connection after \(received.map { ($0.type, $0.stream) })")
      }
    }
  }

  /// Reads the end of a response, and returns its body.
  package func body(of stream: UInt32) throws -> String {
    let isEnd = { (frame: HTTP2Frame.Received) in frame.stream == stream && frame.type < 2 && frame.flags & 1 == 1 }
    if !received.contains(where: isEnd) { try read(until: isEnd) }
    return String(decoding: received.filter { $0.stream == stream && $0.type == 0 }.flatMap(\.payload), as: UTF8.self)
  }

  /// The first byte of the head of a response, which is its whole status for those that HPACK knows: 0x88 is 200, and
  /// 0x8C is 400.
  package func status(of stream: UInt32) throws -> UInt8? {
    let isHead = { (frame: HTTP2Frame.Received) in frame.stream == stream && frame.type == 1 }
    return try (received.first(where: isHead) ?? read(until: isHead)).payload.first
  }

  /// Reads until the server closes the connection.
  package func readToEnd() throws {
    while try fill() {}
    while try next() != nil {}
  }

  /// The codes of the GOAWAY frames.
  package var farewells: [UInt8] { received.filter { $0.type == 7 }.compactMap { $0.payload.dropFirst(7).first } }

  private func next() throws -> HTTP2Frame.Received? {
    guard let frame = HTTP2Frame.parse(pending).first else { return nil }
    pending.removeFirst(9 + frame.payload.count)
    received.append(frame)
    return frame
  }

  /// Returns false at the end of the stream, and after a reset.
  private func fill() throws -> Bool {
    guard let bytes = try? socket.read(), !bytes.isEmpty else { return false }
    pending += bytes
    return true
  }
}
