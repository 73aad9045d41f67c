import CTLS
import Glibc
import SluiceSupport

/// A failed step of TLS and its reason.
package struct TLSFailure: Error, Sendable {
  let moment: TLSAdvice.Moment
  /// OpenSSL's message.
  package let detail: String
  /// Whether the peer closed the connection without announcing it (RFC 8446 §6.1). The received data can then be
  /// incomplete.
  var isTruncation = false
  /// The path of the client certificate that a delegate has chosen for the connection.
  var chosenCertificate: String?

  /// What has failed, and why.
  package var reason: String {
    switch moment {
    case .authorities: "the authorities of clients cannot be read: \(detail)"
    default: detail
    }
  }

  init(_ moment: TLSAdvice.Moment, _ detail: String, isTruncation: Bool = false) {
    self.moment = moment
    self.detail = detail
    self.isTruncation = isTruncation
  }

  /// Makes a failure from OpenSSL's error queue of this thread, and empties the queue.
  ///
  /// - Parameter code: the system's error; 0 if there was none.
  static func last(_ moment: TLSAdvice.Moment, systemError code: Int32 = 0) -> TLSFailure {
    let error = ERR_get_error()
    defer { ERR_clear_error() }
    guard error != 0 else {
      return TLSFailure(
        moment, code == 0 ? "the peer closed the connection" : SystemError.text(code), isTruncation: code == 0)
    }
    let isTruncation = sluice_tls_is_unexpected_end(error) != 0
    guard let reason = ERR_reason_error_string(error) else { return TLSFailure(moment, "error \(error)") }
    return TLSFailure(moment, String(cString: reason), isTruncation: isTruncation)
  }
}
