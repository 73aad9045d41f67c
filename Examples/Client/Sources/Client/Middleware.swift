import SluiceClient
import SluicePlugin

/// A middleware is one function around a call: it gets an input, and calls the next function.
protocol Middleware<Input, NextInput>: Sendable {
  associatedtype Input
  associatedtype NextInput = Input
  func intercept<Return>(input: Input, next: (NextInput) async throws -> Return) async throws -> Return
}

/// Counts the attempts in a header, and makes a second attempt if the first one has sent nothing.
struct RetryOnce: Middleware {
  func intercept<Return>(input: Request, next: (Request) async throws -> Return) async throws -> Return {
    var request = input
    request.headers["x-attempt"] = "0"
    do { return try await next(request) } catch let error as TransactionError where error.isBeforeSending {
      request.headers["x-attempt"] = "1"
      return try await next(request)
    }
  }
}

/// The same behaviour as a stage. The code before `next` moves into the request part, and the code after it into the
/// response or failure part. A second call of `next` becomes a thrown `RetryRequestError`.
struct RetryOnceStage: RequestInterceptor, FailureInterceptor {
  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    request.headers["x-attempt"] = "\(context.attemptNumber)"
  }

  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws {
    if failure.isBeforeSending, context.attemptNumber == 0 { throw RetryRequestError() }
  }
}

/// A middleware around a call of a client, outside the pipeline.
func data(
  for request: Request, through middleware: some Middleware<Request, Request>, of client: Client
) async throws -> (bytes: [UInt8], response: Response) {
  try await middleware.intercept(input: request) { try await client.data(for: $0) }
}

/// Makes a request that succeeds and a request that cannot be sent, first with the stage and then with the middleware.
func middleware(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.addStage("retry-once", StageCode(RetryOnceStage()))
  let engine = try Engine(configuration)
  let nobody: HTTPURL = "http://127.0.0.1:1/"
  print("middleware: \(await engine.transaction(Request(url: url)).attempts) attempt with a stage")
  print("middleware: \(await engine.transaction(Request(url: nobody)).attempts) attempts with a stage")
  await engine.shutdown()

  let client = try Client()
  let (_, response) = try await data(for: Request(url: url), through: RetryOnce(), of: client)
  print("middleware: \(response.status) through a middleware")
  do { _ = try await data(for: Request(url: nobody), through: RetryOnce(), of: client) } catch {
    print("middleware: \(error)")
  }
  await client.shutdown()
}
