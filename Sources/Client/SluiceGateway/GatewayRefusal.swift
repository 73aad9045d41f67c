import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer

/// A response that the gateway makes itself, because no upstream has answered.
///
/// `Proxy-Status` (RFC 9209) names the kind of the failure for programs. The body is a JSON document. Only clients on this
/// machine get the engine's own code, message and stage, because these can name hosts and files.
struct GatewayRefusal: Error {
  let status: Int
  let kind: ProxyError
  /// For clients on this machine.
  let error: TransactionError

  init(_ status: Int, _ kind: ProxyError, _ message: String) {
    self.init(status, kind, TransactionError(code: ErrorCode(rawValue: kind.rawValue), message: message))
  }

  private init(_ status: Int, _ kind: ProxyError, _ error: TransactionError) {
    (self.status, self.kind, self.error) = (status, kind, error)
  }

  static let loop = GatewayRefusal(502, .loop, "the request has passed through this gateway before")

  /// The response to a transaction that has failed.
  init(_ error: TransactionError) {
    let (status, kind) = ProxyError.of(error)
    self.init(status, kind, error)
  }

  func answer(_ stream: ServerStream) {
    var fields = kind.fields
    if status == 503 { fields.append("Retry-After", "1") }
    let body = Self.maySeeDetails(stream) ? Self.body(error) : kind.body
    stream.respond(status, fields, .bytes(body.count))
    stream.send(body.span)
    stream.finish()
  }

  /// Whether the client is on this machine, and not another gateway that passes on the requests of others.
  private static func maySeeDetails(_ stream: ServerStream) -> Bool {
    let fields = stream.head.fields
    return stream.client.peer?.isLoopback == true && !fields.contains("via") && !fields.contains("forwarded")
      && !fields.contains("x-forwarded-for")
  }

  private static func body(_ error: TransactionError) -> [UInt8] {
    ProxyError.body(ResultDocument.Failure(error).document())
  }
}
