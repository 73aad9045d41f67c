public import Foundation
public import FoundationNetworking
public import SluiceMessages
import SluicePipeline

extension Request {
  /// Converts a Foundation request: its method, URL, header fields and `httpBody`, and `timeoutInterval` as the idle
  /// timeout.
  ///
  /// Other parts are ignored: `httpBodyStream`, which the calls of a client read, and settings without a meaning here,
  /// such as the cache policy.
  ///
  /// - Throws: `badURL` or `unsupportedURL`.
  public init(_ request: URLRequest) throws(URLError) {
    guard let url = request.url else { throw URLError(.badURL) }
    do throws(MessageError) { self.init(url: try HTTPURL(url)) } catch { throw URLError(error) }
    method = request.httpMethod ?? "GET"
    // The dictionary has no order, so without sorting, equal requests would differ.
    for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
      headers.append(name, value)
    }
    if let data = request.httpBody, !data.isEmpty { body = .bytes([UInt8](data)) }
    let seconds = request.timeoutInterval
    if seconds > 0, seconds < Self.longestTimeout { options.idleTimeout = .seconds(seconds) }
  }

  /// A longer time sets no limit, because the deadline of the configuration ends the request earlier.
  private static var longestTimeout: Double { 366 * 86_400 }
}
