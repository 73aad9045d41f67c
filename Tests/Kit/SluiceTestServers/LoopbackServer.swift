package import SluiceServer
import SluiceTestKit

/// A real HTTP/1.1 server on 127.0.0.1 that records its requests and can delay its answers.
package final class LoopbackServer: Sendable {
  package enum Recording: Sendable {
    case everything
    /// Counts requests without recording them, for runs with many thousands of requests.
    case countOnly
  }

  private typealias Held = (request: ServerRequest, answer: DeferredResponse)

  private struct State: Sendable {
    var requests: [ServerRequest] = []
    var requestCount = 0
    var isHolding = false
    var held: [Held] = []
  }

  private let server: EmbeddedServer
  private let state: Watched<State>
  private let handler: EmbeddedServer.Handler

  /// Starts a server. The default handler answers 200 with `ok`. If a test uses `hold`, the handler must not return a
  /// deferred response.
  package init(
    recording: Recording = .everything, options: ServerOptions = ServerOptions(),
    handler: @escaping EmbeddedServer.Handler = { _ in .text("ok\n") }
  ) throws {
    let state = Watched(State())
    self.state = state
    self.handler = handler
    server = try EmbeddedServer(options: options) { request in
      let isHolding = state.update { state in
        state.requestCount += 1
        if recording == .everything { state.requests.append(request) }
        return state.isHolding
      }
      guard isHolding else { return handler(request) }
      return .deferred { answer in Self.hold(request, answer, state, handler) }
    }
  }

  package var port: UInt16 { server.port }
  /// `http://127.0.0.1:port`, without a slash at the end.
  package var baseURL: String { server.baseURL }

  /// The requests in order of arrival; empty if they are only counted.
  package var requests: [ServerRequest] { state.value.requests }
  package var requestCount: Int { state.value.requestCount }
  package var heldCount: Int { state.value.held.count }

  package func waitForRequests(_ count: Int, upTo limit: Duration = Patience.limit) async throws {
    try await state.wait(upTo: limit, for: "\(count) requests") { $0.requestCount >= count }
  }

  /// Makes further requests wait for `release`. A waiting request takes no thread.
  package func hold() {
    state.update { $0.isHolding = true }
  }

  package func waitForHeld(_ count: Int, upTo limit: Duration = Patience.limit) async throws {
    try await state.wait(upTo: limit, for: "\(count) held requests") { $0.held.count >= count }
  }

  /// Answers all waiting requests, in order of arrival, and holds no further ones.
  package func release() {
    let held = state.update { state in
      defer { state.held = [] }
      state.isHolding = false
      return state.held
    }
    for (request, answer) in held { answer.complete(with: handler(request)) }
  }

  /// Closes the port and every connection, including those of held requests.
  package func stop() {
    server.stop()
  }

  /// Holds a request. If `release` has been called in the meantime, answers the request at once.
  private static func hold(
    _ request: ServerRequest, _ answer: DeferredResponse, _ state: Watched<State>, _ handler: EmbeddedServer.Handler
  ) {
    let isHeld = state.update { state in
      if state.isHolding { state.held.append((request, answer)) }
      return state.isHolding
    }
    if !isHeld { answer.complete(with: handler(request)) }
  }
}
