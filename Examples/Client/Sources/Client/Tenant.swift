import Sluice

/// Names the tenant in every request, answers for those that have none, and counts what comes back.
struct Tenant: RequestInterceptor, ResponseInterceptor, TransactionTracer {
  let name: String

  func intercept(_ request: inout Request, context: RequestContext) async throws {
    guard !name.isEmpty else { throw ResponseOverride(Response(status: 403, body: .text("no tenant"))) }
    request.headers["x-tenant"] = name
  }

  func intercept(_ response: inout Response, context: ResponseContext) async throws {
    response.headers["x-took"] = "\(context.duration)"
  }

  func record(_ event: TraceEvent) {
    if event.kind == .didComplete { print("tenant \(name): \(event.status) after \(event.duration)") }
  }
}
