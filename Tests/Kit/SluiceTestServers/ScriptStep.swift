package import SluiceServer
package import SluiceTestKit

/// A step of a `ScriptedServer` on a connection.
package enum ScriptStep: Sendable {
  /// Reads until the blank line that ends the request head.
  case receiveHead
  /// Reads a head, then as many bytes as its `Content-Length` says.
  case receiveRequest
  /// Reads this many bytes.
  case receive(Int)
  /// Reads until the client ends its stream.
  case receiveToEnd
  /// Reads HTTP/2 frames (RFC 9113 §4.1) up to and including the next frame of a type.
  case receiveFrame(type: UInt8)
  /// Writes these bytes unchanged.
  case send([UInt8])
  /// Writes the first bytes of a pattern.
  case sendPattern(BytePattern, byteCount: Int)
  /// Writes these bytes again and again, one every few milliseconds, until the client disconnects.
  case drip([UInt8])
  /// Sets a signal, which tells the test that the script has come to this step.
  case signal(Signal)
  /// Waits until the test sets this signal.
  case wait(Signal)
  /// Forwards all bytes between the client and a port of this host, until one of the two ends.
  case tunnel(toPort: UInt16)
  /// Ends the server's stream; the client can still send.
  case shutdownWriting
  /// Closes with FIN; the steps after it are not played.
  case close
  /// Closes with RST.
  case reset

  /// Writes UTF-8 text. The text must contain its line ends, which are `\r\n` in HTTP.
  package static func send(_ text: String) -> ScriptStep { .send(Array(text.utf8)) }

  /// Reads the whole request, then sends a complete answer with `Content-Length`.
  package static func respond(_ status: String = "200 OK", headers: [String] = [], body: String = "") -> [ScriptStep] {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
    return [.receiveRequest, .send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)]
  }
}
