import Glibc
import SluiceMessages
import SluicePipeline

extension TLSSettings {
  /// Names a file that cannot be read now, instead of failing at the first request.
  func check() throws(TransportError) {
    for (name, path) in [("ca", ca), ("cert", certificate), ("key", key)] {
      guard let path, access(path, R_OK) != 0 else { continue }
      throw TransportError(
        .tls, "transport.tls.\(name): cannot read \(PlainText.path(path)): \(SystemError.text(errno))",
        isBeforeSending: true)
    }
  }
}
