public import Foundation
public import FoundationNetworking
public import SluiceMessages
import SluicePipeline

extension Request {
  /// Converts a Foundation request: its method, URL, header fields and `httpBody`, and `timeoutInterval` as the idle
  /// timeout.
  ///
  /// Everything else is ignored: settings that have no meaning here, such as the cache policy, and `httpBodyStream`,
  /// which the calls of the client handle separately.
  ///
  /// - Throws: `badURL` or `unsupportedURL`.
  public init(_ request: URLRequest) throws(URLError) {
    guard let url = request.url else { throw URLError(.badURL) }
    do throws(MessageError) { self.init(url: try HTTPURL(url)) } catch { throw URLError(error) }
    method = request.httpMethod ?? "GET"
    // The fields are sorted, because the order of a dictionary would differ between equal requests.
    for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
      headers.append(name, value)
    }
    if let data = request.httpBody, !data.isEmpty { body = .bytes([UInt8](data)) }
    let seconds = request.timeoutInterval
    if seconds > 0, seconds < Self.longestTimeout { options.idleTimeout = .seconds(seconds) }
  }

  /// A longer `timeoutInterval`, in seconds, sets no idle timeout, because the deadline of the configuration ends the
  /// request earlier.
  private static var longestTimeout: Double { 366 * 86_400 }
}
