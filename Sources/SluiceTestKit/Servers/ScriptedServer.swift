/// A TCP server that sends exactly the bytes it is told to, for what a correct HTTP server would never do.
///
/// Each connection follows the script of its number; connections beyond the last script repeat that one. After its
/// script a connection is closed. Everything received is kept verbatim, unless told otherwise.
public final class ScriptedServer: Sendable {
  public let port: UInt16
  public var baseURL: String { "http://127.0.0.1:\(port)" }

  private struct State: Sendable {
    var received: [[UInt8]] = []
    var live: [Int: StreamSocket] = [:]
    var runningThreads = 1
  }

  private let listener: ListeningSocket
  private let scripts: [[ScriptStep]]
  private let state = Watched(State())
  private let isStopped = Signal()
  private let limit: Duration

  /// - Parameters:
  ///   - limit: ends reads and writes on which nothing moves.
  ///   - keepsReceived: false for runs of many thousand connections; ``received`` is empty bytes then.
  public init(_ scripts: [[ScriptStep]], limit: Duration = Patience.limit, keepsReceived: Bool = true) throws {
    listener = try ListeningSocket()
    port = listener.port
    self.scripts = scripts
    self.limit = limit
    let runner = Runner(
      listener: listener, scripts: scripts, isStopped: isStopped, state: state, limit: limit,
      keepsReceived: keepsReceived)
    Threads.start { runner.acceptAll() }
  }

  /// One script for every connection.
  public convenience init(_ script: ScriptStep...) throws {
    try self.init([script])
  }

  deinit { stop() }

  /// What each connection has sent so far, in the order of their acceptance.
  public var received: [[UInt8]] { state.value.received }

  /// The same as text.
  public var receivedText: [String] { received.map { String(decoding: $0, as: UTF8.self) } }

  /// Connections accepted so far.
  public var connectionCount: Int { state.value.received.count }

  public func waitForConnections(_ count: Int) async throws {
    try await state.wait(for: "\(count) connections") { $0.received.count >= count }
  }

  /// Suspends until every accepted connection's script has ended.
  public func waitForScripts() async throws {
    try await state.wait(for: "the scripts to end") { $0.live.isEmpty && !$0.received.isEmpty }
  }

  /// Closes the port and all connections, and waits for the threads.
  public func stop() {
    isStopped.set()
    listener.stop()
    for socket in state.value.live.values { socket.shutdownBoth() }
    state.waitBlocking { $0.runningThreads == 0 }
  }

  /// What the threads share; it does not keep the server alive.
  private struct Runner: Sendable {
    let listener: ListeningSocket
    let scripts: [[ScriptStep]]
    let isStopped: Signal
    let state: Watched<State>
    let limit: Duration
    let keepsReceived: Bool

    func acceptAll() {
      while !isStopped.isSet, let socket = listener.accept(limit: limit) {
        let number = state.update { state in
          state.received.append([])
          state.live[state.received.count - 1] = socket
          state.runningThreads += 1
          return state.received.count - 1
        }
        // A stop that came before the socket was listed did not shut it down.
        if isStopped.isSet { socket.shutdownBoth() }
        Threads.start { play(number, on: socket) }
      }
      state.update { $0.runningThreads -= 1 }
    }

    private func play(_ number: Int, on socket: StreamSocket) {
      let script = scripts.isEmpty ? [] : scripts[min(number, scripts.count - 1)]
      var performance = ScriptPerformance(socket: socket, isStopped: isStopped) { bytes in
        if keepsReceived { state.update { $0.received[number] += bytes } }
      }
      performance.play(script)
      state.update { state in
        state.live[number] = nil
        state.runningThreads -= 1
      }
    }
  }
}
