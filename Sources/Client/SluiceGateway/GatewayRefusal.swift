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
  /// A kind of failure with its name in `Proxy-Status` (RFC 9209 §2.3).
  enum Kind: String {
    case nameLookup = "dns_error"
    case unreachable = "destination_unavailable"
    case connectTimeout = "connection_timeout"
    case connectionLost = "connection_terminated"
    case tls = "tls_protocol_error"
    case certificate = "tls_certificate_error"
    case requestFault = "http_request_error"
    case requestDenied = "http_request_denied"
    case responseTimeout = "http_response_timeout"
    case invalidResponse = "http_protocol_error"
    case responseTooLarge = "http_response_body_size"
    case contentCoding = "http_response_content_coding"
    case loop = "proxy_loop_detected"
    /// The gateway has not tried to reach the upstream.
    case internalResponse = "proxy_internal_response"
    case internalError = "proxy_internal_error"
  }

  let status: Int
  let kind: Kind
  /// For clients on this machine.
  let error: TransactionError

  init(_ status: Int, _ kind: Kind, _ message: String) {
    self.init(status, kind, TransactionError(code: ErrorCode(rawValue: kind.rawValue), message: message))
  }

  private init(_ status: Int, _ kind: Kind, _ error: TransactionError) {
    (self.status, self.kind, self.error) = (status, kind, error)
  }

  static let loop = GatewayRefusal(502, .loop, "the request has passed through this gateway before")

  /// The response to a transaction that has failed.
  init(_ error: TransactionError) {
    let (status, kind): (Int, Kind) =
      switch error.code {
      case .tooManyTransactions, .tooManyBlockingCalls, .shutdown: (503, .internalResponse)
      case .requestTooLarge: (413, .requestFault)
      case .invalidURL, .invalidHeader, .invalidMethod, .invalidBody: (error.stage == nil ? 400 : 500, .requestFault)
      case _ where error.stage != nil: (500, .internalError)
      case .nameLookup: (502, .nameLookup)
      case .connect: (502, .unreachable)
      case .connectTimeout: (504, .connectTimeout)
      case .timeout, .deadline: (504, .responseTimeout)
      case .tls: (502, error.detail == .certificate ? .certificate : .tls)
      case .connectionLost, .resent, .notProcessed: (502, .connectionLost)
      case .invalidResponse: (502, .invalidResponse)
      case .responseTooLarge: (502, .responseTooLarge)
      case .decoding: (502, .contentCoding)
      case .proxy: (502, .unreachable)
      default: (500, .internalError)
      }
    self.init(status, kind, error)
  }

  func answer(_ stream: ServerStream) {
    var fields = Self.fields(kind)
    if status == 503 { fields.append("Retry-After", "1") }
    let body = Self.maySeeDetails(stream) ? Self.body(error) : Self.body(kind)
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

  static func fields(_ kind: Kind) -> HeaderFields {
    ["Content-Type": "application/json", "Proxy-Status": "sluice; error=\(kind.rawValue)"]
  }

  /// What every client may know.
  static func body(_ kind: Kind) -> [UInt8] { body(["code": JSONValue(kind.rawValue)]) }

  private static func body(_ error: TransactionError) -> [UInt8] { body(ResultDocument.Failure(error).document()) }

  private static func body(_ error: JSONValue) -> [UInt8] {
    let document: JSONValue = ["error": error]
    return ((try? document.serialized()) ?? []) + [0x0A]
  }
}
