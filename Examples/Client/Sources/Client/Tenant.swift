import SluicePlugin

/// Names the tenant in every request, answers requests without a tenant, and prints the results.
struct Tenant: RequestInterceptor, ResponseInterceptor, TransactionTracer {
  let name: String

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    guard !name.isEmpty else {
      request.respond(status: 403).body = Array("no tenant".utf8)
      return
    }
    request.headers["x-tenant"] = name
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    response.headers["x-took"] = "\(context.duration)"
  }

  func record(_ event: borrowing TransactionEvent) {
    if event.kind == .didComplete { print("tenant \(name): \(event.status ?? 0) after \(event.duration)") }
  }
}
