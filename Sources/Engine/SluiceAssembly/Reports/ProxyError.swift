package import SluiceJSON
package import SluiceMessages
package import SluicePipeline

/// Why a gateway answers for itself: a kind of failure with its name in `Proxy-Status` (RFC 9209 §2.3).
package enum ProxyError: String, Sendable {
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

  /// What a client gets for a transaction that has failed.
  package static func of(_ error: TransactionError) -> (status: Int, kind: ProxyError) {
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
  }

  package var fields: HeaderFields {
    ["Content-Type": "application/json", "Proxy-Status": "sluice; error=\(rawValue)"]
  }

  /// What every client may know.
  package var body: [UInt8] { Self.body(["code": JSONValue(rawValue)]) }

  /// The document of an error.
  package static func body(_ error: JSONValue) -> [UInt8] {
    let document: JSONValue = ["error": error]
    return ((try? document.serialized()) ?? []) + [0x0A]
  }
}
