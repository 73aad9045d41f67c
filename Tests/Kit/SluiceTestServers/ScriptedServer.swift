import SluiceTestKit

/// A TCP server that sends exactly the given bytes, to simulate what a correct HTTP server would never do.
///
/// The first connection follows the first script, the second connection the second script, and so on. Further
/// connections repeat the last script. The server closes a connection at the end of its script. All received bytes are
/// kept, unless `keepsReceived` is false.
///
/// Instead of scripts, the server can have a closure that returns the steps of the answer to each request.
package final class ScriptedServer: Sendable {
  /// The steps for a request that was received completely; the number counts the requests of its connection from 0.
  package typealias Answer = @Sendable (MessageHead, Int) -> [ScriptStep]

  package let port: UInt16
  package var baseURL: String { "http://127.0.0.1:\(port)" }

  private struct State: Sendable {
    var received: [[UInt8]] = []
    var live: [Int: StreamSocket] = [:]
    /// Whether the accepting thread may have a connection that is not in `live` yet.
    var isAccepting = false
    var runningThreads = 1
  }

  private let listener: ListeningSocket
  private let state = Watched(State())
  private let isStopped = Signal()

  /// - Parameters:
  ///   - limit: the time after which a read or write without progress fails.
  ///   - keepsReceived: whether ``received`` has the bytes of each connection; if not, its elements are empty. Set it
  ///     to false for runs of many thousand connections.
  package convenience init(
    _ scripts: [[ScriptStep]], limit: Duration = Patience.limit, keepsReceived: Bool = true
  ) throws {
    try self.init(limit: limit, keepsReceived: keepsReceived) { number, performance in
      performance.play(scripts.isEmpty ? [] : scripts[min(number, scripts.count - 1)])
    }
  }

  /// A server that asks `answer` for the steps of each answer. A connection lasts until a step closes it. Received
  /// bytes are not kept.
  package convenience init(answer: @escaping Answer) throws {
    try self.init(limit: Patience.limit, keepsReceived: false) { _, performance in performance.answer(answer) }
  }

  private init(
    limit: Duration, keepsReceived: Bool, play: @escaping @Sendable (Int, inout ScriptPerformance) -> Void
  ) throws {
    listener = try ListeningSocket()
    port = listener.port
    let runner = Runner(
      listener: listener, isStopped: isStopped, state: state, limit: limit, keepsReceived: keepsReceived, play: play)
    Threads.start { runner.acceptAll() }
  }

  /// A server that plays the same script for every connection.
  package convenience init(_ script: ScriptStep...) throws {
    try self.init([script])
  }

  deinit { stop() }

  /// The bytes received on each connection so far, in the order in which the connections were accepted.
  package var received: [[UInt8]] { state.value.received }

  /// The received bytes of each connection as text.
  package var receivedText: [String] { received.map { String(decoding: $0, as: UTF8.self) } }

  /// Connections accepted so far.
  package var connectionCount: Int { state.value.received.count }

  package func waitForConnections(_ count: Int) async throws {
    try await state.wait(for: "\(count) connections") { $0.received.count >= count }
  }

  /// Suspends until the script of every connection that a client has opened has ended, and its socket is closed.
  package func waitForScripts() async throws {
    try await state.wait(for: "the scripts to end") { [listener] state in
      state.live.isEmpty && !state.received.isEmpty && !state.isAccepting && !listener.hasConnection
    }
  }

  /// Closes the port and all connections, and waits for the threads.
  package func stop() {
    isStopped.set()
    listener.stop()
    for socket in state.value.live.values { socket.shutdownBoth() }
    state.waitBlocking { $0.runningThreads == 0 }
  }

  /// The state that the threads share; it does not keep the server alive.
  private struct Runner: Sendable {
    let listener: ListeningSocket
    let isStopped: Signal
    let state: Watched<State>
    let limit: Duration
    let keepsReceived: Bool
    let play: @Sendable (Int, inout ScriptPerformance) -> Void

    func acceptAll() {
      while let socket = nextConnection() {
        let number = state.update { state in
          state.received.append([])
          state.live[state.received.count - 1] = socket
          state.isAccepting = false
          state.runningThreads += 1
          return state.received.count - 1
        }
        // If `stop` was called before this socket was in `live`, `stop` has not shut it down.
        if isStopped.isSet { socket.shutdownBoth() }
        Threads.start { serve(number, on: socket) }
      }
      state.update { $0.runningThreads -= 1 }
    }

    private func nextConnection() -> StreamSocket? {
      listener.waitForConnection()
      state.update { $0.isAccepting = true }
      let connection = isStopped.isSet ? nil : listener.accept(limit: limit)
      if connection == nil { state.update { $0.isAccepting = false } }
      return connection
    }

    private func serve(_ number: Int, on socket: StreamSocket) {
      var performance = ScriptPerformance(socket: socket, isStopped: isStopped) { bytes in
        if keepsReceived { state.update { $0.received[number] += bytes } }
      }
      play(number, &performance)
      // A test that waits for the scripts may count descriptors.
      socket.close()
      state.update { state in
        state.live[number] = nil
        state.runningThreads -= 1
      }
    }
  }
}
