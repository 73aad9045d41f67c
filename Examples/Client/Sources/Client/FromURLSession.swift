import SluiceClient
import SluiceCookies
import Sluice
import SluiceJSON

/// A client with the defaults of a URLSession: cookies in memory, six connections per host, seven days for a request.
func clientLikeURLSession() throws -> Client {
  var configuration = Configuration()
  configuration.deadline = .seconds(7 * 86_400)
  configuration.transport.timeout = .seconds(7 * 86_400)
  configuration.transport.maximumConnectionsPerHost = 6
  return try Client(configuration, cookies: CookieJar())
}

/// Sends a value as JSON, and reads the answer.
func sendItem(_ client: Client, _ url: HTTPURL) async throws -> JSONValue {
  var request = Request(method: "POST", url: url, body: try .json(Item(name: "a", count: 2)))
  request.headers["accept"] = "application/json"
  request.timeout = .seconds(20)
  let (bytes, response) = try await client.data(for: request)
  guard response.status == 200 else { throw StageFailure(code: "no_item", message: "status \(response.status)") }
  return try JSONValue(parsing: bytes)
}

/// Does the work of a URLSessionTaskDelegate: decides about redirects and challenges, and gets the metrics.
struct Decisions: TransactionDelegate {
  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    redirect.isCrossOrigin ? .takeResponse : .follow
  }

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
    .credentials(user: "user", password: "password")
  }

  func transactionDidComplete(_ result: TransactionResult) {
    print("fromURLSession: \(result.finalURL?.path ?? "no URL") after \(result.attempts) attempt")
  }
}

/// What an error means for the caller.
func advice(_ error: TransactionError) -> String {
  switch error.code {
  case .cancelled: "the caller has given up"
  case .deadline, .timeout, .connectTimeout: "it took too long"
  case .nameLookup, .connect, .tls: "no connection"
  default: error.isBeforeSending ? "nothing was sent: \(error)" : "\(error)"
  }
}

func fromURLSession(_ url: HTTPURL) async throws {
  let client = try clientLikeURLSession()
  print("fromURLSession: \(try await sendItem(client, url)["method"]?.string ?? "no method")")
  _ = try await client.data(from: url, delegate: Decisions())

  // A handle that ends a call from anywhere, as the cancel() of a URLSessionTask does.
  let cancellation = Cancellation()
  cancellation.cancel()
  do {
    _ = try await client.data(from: url, cancellation: cancellation)
  } catch { print("fromURLSession: \(advice(error))") }
  await client.shutdown()
}
