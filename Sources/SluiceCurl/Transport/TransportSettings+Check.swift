import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

extension TransportSettings {
  /// Names what no request could be sent with now, instead of failing at the first one.
  func check() throws(TransportError) {
    try tls.check(names)
    guard let userAgent else { return }
    do { try HeaderFields.check(name: "user-agent".utf8.span, value: userAgent.utf8.span) } catch {
      throw TransportError(.transport, "transport.userAgent: \(error.reason)", isBeforeSending: true)
    }
  }
}

extension TLSSettings {
  /// Names a file that cannot be read now, instead of failing at the first request.
  func check(_ names: SettingNames) throws(TransportError) {
    for (name, path) in [(names.authorities, ca), (names.certificate, certificate), (names.key, key)] {
      guard let path, access(path, R_OK) != 0 else { continue }
      throw TransportError(
        .tls, "\(name): cannot read \(PlainText.path(path)): \(SystemError.text(errno))", isBeforeSending: true)
    }
  }
}
