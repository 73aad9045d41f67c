import Glibc
import SluiceMessages
package import SluicePipeline
import SluiceSupport

extension TransportSettings {
  /// Reports settings with which no request can be sent, instead of failing at the first request.
  package func check() throws(TransportError) {
    try tls.check(names)
    guard let userAgent else { return }
    do { try HeaderFields.check(name: "user-agent".utf8.span, value: userAgent.utf8.span) } catch {
      throw TransportError(.transport, "transport.userAgent: \(error.reason)", isBeforeSending: true)
    }
  }
}

extension TLSSettings {
  /// Reports a file that cannot be read, instead of failing at the first request.
  func check(_ names: SettingNames) throws(TransportError) {
    for (name, path) in [(names.authorities, ca), (names.certificate, certificate), (names.key, key)] {
      guard let path else { continue }
      let reason = access(path, R_OK) != 0 ? SystemError.text(errno) : Self.obstacle(at: path)
      guard let reason else { continue }
      throw TransportError(.tls, "\(name): cannot read \(PlainText.path(path)): \(reason)", isBeforeSending: true)
    }
  }

  /// Why a file must not be read on a loop, which would wait; nil if it can be read there.
  package static func obstacle(at path: String) -> String? {
    OutputTarget(at: path).mayWait ? "it is a pipe or a device; name a regular file" : nil
  }
}
