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
  /// - Throws: why there is no value. The code is `http_status` for a status that the engine does not accept, by default
  ///   all but 2xx, also if this client accepts every status. It is `extraction` if the body is not JSON or cannot be
  ///   decoded. To read the body of an error, use ``data(for:delegate:cancellation:)``.
  public func json<Value: Decodable & Sendable>(
    _ type: Value.Type, for request: Request, delegate: (any TransactionDelegate)? = nil,
    cancellation: Cancellation? = nil
  ) async throws(TransactionError) -> Value {
    var request = request
    if !request.headers.contains("accept") { request.headers["accept"] = "application/json" }
    let cancellation = try Self.begin(cancellation)
    let result = await engine.transaction(request, delegate: delegates(delegate), cancellation: cancellation)
    if let error = result.error { throw error }
    guard var response = result.response else { throw .withoutResponse }
    if case .file(let file) = response.body { response.body = .bytes(try await HeldFile.readAll(file)) }
    do { return try response.json().decode(type) } catch {
      let reason = (error as? TransactionError)?.message ?? "\(error)"
      let place = "\(request.method) \(request.url.origin)\(request.url.path)"
      throw TransactionError(code: .extraction, message: "the response to \(place) is no \(type): \(reason)")
    }
  }
}
