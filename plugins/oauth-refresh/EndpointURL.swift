import struct SluiceMessages.HTTPURL
import SluicePlugin

/// The token endpoint (RFC 6749 §3.2): an absolute URL without a fragment. It must use TLS, unless the endpoint is on
/// this machine.
struct EndpointURL: Sendable {
  let string: String
  /// The URL for messages, without the query, which can contain secrets.
  let shown: String

  init(_ text: String, allowsCleartext: Bool) throws(StageFailure) {
    let url: HTTPURL
    do { url = try HTTPURL(text) } catch { throw StageFailure(message: "\(Self.expectation): \(error)") }
    guard url.userInfo == nil, url.fragment == nil else { throw StageFailure(message: Self.expectation) }
    guard url.origin.scheme == .https || allowsCleartext || url.origin.isLoopback else {
      throw StageFailure(
        message: "config key \"tokenEndpoint\": http would send the client's secret in clear text to \(url.host); use "
          + "https, or set \"allowCleartext\" where the network is trusted")
    }
    string = url.string
    shown = url.origin.description + url.path
  }

  private static let expectation =
    "config key \"tokenEndpoint\": expected an absolute https URL without user, password and fragment"
}
