public import Sluice
public import SluiceMessages
public import SluicePipeline
import SluiceJSON

// Requests whose response is decoded.
extension Client {
  /// Gets a URL, and decodes the JSON of the response. See ``json(_:for:delegate:cancellation:)``.
  public func json<Value: Decodable & Sendable>(
    _ type: Value.Type, from url: HTTPURL, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> Value {
    try await json(type, for: Request(url: url), delegate: delegate, cancellation: cancellation)
  }

  /// Sends a request, and decodes the JSON of the response.
  ///
  /// A request without `Accept` asks for `application/json`. The type of the response is not checked, because servers
  /// often name another.
  ///
  /// - Parameters:
  ///   - type: `JSONValue.self` (module `SluiceJSON`) gives the document as it is.
  ///   - delegate: as for ``data(for:delegate:cancellation:)``.
  ///   - cancellation: as for ``data(for:delegate:cancellation:)``.
  /// - Throws: why there is no value. The code is `http_status` for a status other than 2xx, and `extraction` if the body
  ///   is not JSON or cannot be decoded. To read the body of an error, use ``data(for:delegate:cancellation:)``.
  public func json<Value: Decodable & Sendable>(
    _ type: Value.Type, for request: Request, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> Value {
    var request = request
    if !request.headers.contains("accept") { request.headers["accept"] = "application/json" }
    let response = try await data(for: request, delegate: delegate, cancellation: cancellation).response
    guard (200...299).contains(response.status) else {
      throw TransactionError(code: .status, message: "the server answered \(response.status), expected 2xx")
    }
    let document = try response.json()
    do { return try document.decode(type) } catch {
      throw TransactionError(code: .extraction, message: "the JSON is no \(type): \(error)")
    }
  }
}
