import SluiceAssembly
import SluiceMessages
import SluicePipeline

/// The responses that the module makes itself.
enum EnvoyReply {
  /// The response to a transaction that has failed. The reason is in the log, because clients may not know it.
  static func failure(_ error: TransactionError) -> Response {
    let (status, kind) = ProxyError.of(error)
    return response(status, kind)
  }

  static func response(_ status: Int, _ kind: ProxyError) -> Response {
    Response(status: status, headers: kind.fields, body: .bytes(kind.body))
  }

  /// The fields for Envoy, which itself sets those that frame the message.
  static func fields(_ response: Response, isGRPC: Bool) -> HeaderFields {
    var fields = HeaderFields()
    let given = response.headers
    for index in given.indices {
      let name = given.buffer.span.extracting(given.nameRange(at: index))
      if FieldSyntax.isTransportField(name) { continue }
      fields.append(name, given.buffer.span.extracting(given.valueRange(at: index)))
    }
    // Otherwise, Envoy tells the client of a gRPC call that everything went well.
    if isGRPC, response.status >= 300, !fields.contains("grpc-status") {
      fields.append("grpc-status", String(grpcStatus(of: response.status)))
    }
    return fields
  }

  /// The status of gRPC for one of HTTP (gRPC's "HTTP to gRPC Status Code Mapping").
  private static func grpcStatus(of status: Int) -> Int {
    switch status {
    case 400: 13
    case 401: 16
    case 403: 7
    case 404: 12
    case 429, 502, 503, 504: 14
    default: 2
    }
  }
}
