import CLinux
import CMicrohttpd
import Glibc

/// The last response of a connection, written to its socket without libmicrohttpd.
struct RawResponse {
  private let bytes: [UInt8]

  /// - Parameter response: its body must be bytes.
  init(_ response: ServerResponse) {
    let body: [UInt8] = if case .bytes(let bytes) = response.body { bytes } else { [] }
    let phrase = MHD_get_reason_phrase_for(UInt32(clamping: response.status)).map { String(cString: $0) } ?? ""
    var text = Array("HTTP/1.1 \(response.status) \(phrase)\r\n".utf8)
    let own = [HeaderLine("Connection", "close"), HeaderLine("Content-Length", "\(body.count)")]
    for line in response.headers + own { text += Array("\(line.name): ".utf8) + line.valueBytes + [0x0D, 0x0A] }
    bytes = text + [0x0D, 0x0A] + body
  }

  /// Writes the response as far as the socket has room, and shuts the socket down for writing.
  func writeLast(to descriptor: Int32) {
    _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
    shutdown(descriptor, sluice_shutdown_sending)
  }
}
