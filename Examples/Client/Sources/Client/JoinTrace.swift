import Sluice
import SluiceTraceContext

/// Runs requests in the trace that another tracer has written into a dictionary. The keys of the dictionary are header
/// names in lower case. Each hop gets its own span below the tracer's span.
func joinTrace<Value>(of carrier: [String: String], _ body: () async throws -> Value) async rethrows -> Value {
  guard !carrier.isEmpty else { return try await body() }
  let context = TraceContext.continuing(FunctionCarrier { name in carrier[name.lowercased()].map { [$0] } ?? [] })
  return try await TraceContext.$current.withValue(context, operation: body)
}

/// The attributes that a span of another tracer gets for a transaction.
func spanAttributes(of result: TransactionResult) -> [(name: String, value: String)] {
  var attributes = [("http.request.method", result.originalRequest.method)]
  if let status = result.status { attributes.append(("http.response.status_code", "\(status)")) }
  if let error = result.error { attributes.append(("error.type", "\(error.code)")) }
  return attributes
}

/// A request in the trace of another tracer: the server gets the trace with a new span.
func joinTrace(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.plugins = [PluginConfiguration(name: "headers", source: .builtin("headers"), config: ["hosts": ["*"]])]
  configuration.issue = [StageReference("headers")]
  let engine = try Engine(configuration)

  let carrier = ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]
  let result = await joinTrace(of: carrier) { await engine.transaction(Request(url: url)) }
  print("joinTrace: \(result.issuedRequest?.headers["traceparent"] ?? "none")")
  print("joinTrace: \(spanAttributes(of: result).map { "\($0.name)=\($0.value)" }.joined(separator: " "))")
  await engine.shutdown()
}
