import Sluice
import SluicePlugin

/// Sets attributes of the transaction: the route, and the user as a secret.
struct Route: RequestInterceptor {
  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    context.attributes["http.route"] = .text(context.path)
    try context.attributes.set("user.id", .text(request.headers["x-user"] ?? ""), isSensitive: true)
  }
}

/// Prints the attributes that stages have set on a transaction.
func route(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.addStage("route", StageCode(Route()))
  let engine = try Engine(configuration)
  let result = await engine.transaction(Request(url: url, headers: ["x-user": "ada"]))
  for attribute in result.attributes { print("route: \(attribute.name) is \(attribute.shownValue)") }
  await engine.shutdown()
}
