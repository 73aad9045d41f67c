/// Decides what an HTTP/1.1 connection of a server does next: when a request is handed over, when the client gets an error
/// in place of a response, and what becomes of the connection (RFC 9112 §9).
///
///     bytes ─► head ─► body ─► complete ─┐
///                │                       ├─► next request, or linger and close
///                └─► handler ─► response ┘
///
/// A value without time and without a socket: events go in, actions come out. The next request is read only when the
/// response to the current one is complete, so the bytes of pipelined requests wait.
struct ServerConnectionMachine: Sendable, Hashable {
  /// How far the current request has been read.
  enum Input: Sendable, Hashable {
    /// No byte of the next request has arrived.
    case idle
    case head, body
    /// The whole request has arrived. Bytes after it are not read yet.
    case complete
    /// The response is complete, and the rest of the body is read and dropped, so that the connection can be used again.
    case dropping
    /// Nothing that arrives is of interest any more.
    case ended
  }

  /// How far the response to the current request is.
  enum Output: Sendable, Hashable {
    /// There is no request.
    case none
    /// A handler has the request and has not answered.
    case awaited
    /// The head of the response was given.
    case sending
    case complete
  }

  /// What the head of a request says about the connection.
  struct Head: Sendable, Hashable {
    var hasBody = false
    var endsConnection = false
    var expectsContinue = false
  }

  enum Event: Sendable, Hashable {
    /// The first bytes of a request have arrived.
    case arrived
    case head(Head)
    /// The head is not valid; the client gets this status.
    case refused(Int)
    /// The framing of the body is not valid.
    case bodyRefused(Int)
    case bodyEnded
    /// So many bytes of the body were dropped.
    case dropped(Int)
    /// The handler takes the body.
    case wantsBody
    /// The handler answers. `closes` is whether the end of the response is the end of the connection.
    case responseBegan(closes: Bool)
    case responseEnded
    /// The handler cannot complete the response.
    case responseFailed
    /// The client has closed its side.
    case inputEnded
    case broken
    /// The time of ``wait`` has passed.
    case timeout
    /// The server ends when the requests in flight are answered. `hasOutput` is whether a response is not sent yet.
    case drain(hasOutput: Bool)
  }

  struct Actions: OptionSet, Sendable, Hashable {
    let rawValue: UInt16

    /// Hand the request to the handler.
    static let begin = Actions(rawValue: 1)
    /// Send the status ``refusal`` as a response of the server, and then linger.
    static let refuse = Actions(rawValue: 2)
    /// Send the informational response 100.
    static let sendContinue = Actions(rawValue: 4)
    /// Tell the handler that the client sends nothing more, and can be gone.
    static let tellHalfClosed = Actions(rawValue: 8)
    /// Tell the handler that nobody waits for its response any more.
    static let cancel = Actions(rawValue: 16)
    /// Read the next request, which can have arrived already.
    static let next = Actions(rawValue: 32)
    /// When everything is sent, close this side, and read until the client has closed its own. Otherwise the system
    /// can drop the response that the client has not read yet (RFC 9112 §9.6).
    static let linger = Actions(rawValue: 64)
    static let close = Actions(rawValue: 128)
    /// Close the connection so that the client sees an error, and not the end of a response.
    static let abort = Actions(rawValue: 256)
  }

  /// What the connection waits for, with a time limit.
  enum Wait: Sendable, Hashable {
    /// The handler, which has time limits of its own.
    case handler
    /// A request
    case idle
    /// The rest of a head; all of it must arrive in time.
    case head
    /// The next bytes of a body
    case body
    /// That the client takes bytes
    case output
    /// That the client closes its side
    case linger
  }

  private(set) var input = Input.idle
  private(set) var output = Output.none
  /// Whether the connection serves another request after this one.
  private(set) var persists = true
  /// The status of ``Actions/refuse``.
  private(set) var refusal = 0
  private var expectsContinue = false
  private var isHalfClosed = false
  private var isDraining = false
  private var isLingering = false
  private(set) var isClosed = false
  private var dropLimit = 0

  /// Bytes of a body that are dropped, at most, to keep a connection.
  static let mostDropped = 64 << 10

  /// Whether bytes are read. While a response is not sent, no further request is read, so a client that does not read
  /// cannot fill the memory; and the end of a connection is not looked for, because it would drop the response.
  /// - Parameter hasOutput: whether bytes are left to send, which the socket does not take.
  func wantsInput(hasOutput: Bool) -> Bool {
    switch input {
    case .idle, .ended: !isClosed && !hasOutput
    case .head, .body, .dropping: !isClosed
    case .complete: false
    }
  }

  /// - Parameters:
  ///   - hasOutput: whether bytes are left to send, which the socket does not take.
  ///   - isPaused: whether the handler takes no bytes of the body for now.
  func wait(hasOutput: Bool, isPaused: Bool) -> Wait {
    if hasOutput { return .output }
    if isLingering { return .linger }
    return switch input {
    case .idle: .idle
    case .head: .head
    case .body: isPaused || expectsContinue ? .handler : .body
    case .dropping: .body
    case .complete, .ended: .handler
    }
  }

  mutating func handle(_ event: Event, _ wait: Wait = .handler) -> Actions {
    if isClosed { return [] }
    switch event {
    case .arrived:
      if input == .idle { input = .head }
      return []
    case .head(let head): return begin(head)
    case .refused(let status): return refuse(status)
    case .bodyRefused(let status): return input == .body ? giveUp(status) : linger()
    case .bodyEnded:
      if input == .dropping { return endExchange() }
      input = .complete
      return output == .complete ? endExchange() : []
    case .dropped(let count):
      dropLimit -= count
      return dropLimit < 0 ? linger() : []
    case .wantsBody:
      guard expectsContinue, output == .awaited else { return [] }
      expectsContinue = false
      return .sendContinue
    case .responseBegan(let closes):
      output = .sending
      // The client can send the body that it holds back, or another request.
      if closes || expectsContinue { persists = false }
      expectsContinue = false
      return []
    case .responseEnded: return endResponse()
    case .responseFailed: return close(.abort)
    case .inputEnded: return endInput()
    case .broken: return breakOff()
    case .timeout: return timeOut(wait)
    case .drain(let hasOutput):
      isDraining = true
      persists = false
      if input == .dropping { return linger() }
      guard input == .idle else { return [] }
      return hasOutput ? linger() : close(.close)
    }
  }

  /// Whether a handler has the request.
  private var isInFlight: Bool { output == .awaited || output == .sending }

  private mutating func begin(_ head: Head) -> Actions {
    input = head.hasBody ? .body : .complete
    output = .awaited
    persists = !head.endsConnection && !isDraining
    expectsContinue = head.expectsContinue && head.hasBody
    return .begin
  }

  private mutating func refuse(_ status: Int) -> Actions {
    (refusal, persists, input, output) = (status, false, .ended, .sending)
    return .refuse
  }

  /// Ends the request that a handler has: with a status, if the response has not begun.
  private mutating func giveUp(_ status: Int) -> Actions {
    if output == .sending { return close([.cancel, .abort]) }
    return [.cancel, refuse(status)]
  }

  /// Ends the connection. A client that has got a part of a response must not take it for the whole.
  private mutating func breakOff() -> Actions {
    guard isInFlight else { return close(.close) }
    return close(output == .sending ? [.cancel, .abort] : [.cancel, .close])
  }

  private mutating func endResponse() -> Actions {
    output = .complete
    switch input {
    case .complete: return endExchange()
    case .body where persists && !isHalfClosed:
      input = .dropping
      dropLimit = Self.mostDropped
      return []
    case .idle, .head, .body, .dropping, .ended: return linger()
    }
  }

  private mutating func endExchange() -> Actions {
    guard persists, !isHalfClosed else { return linger() }
    (input, output) = (.idle, .none)
    return .next
  }

  private mutating func linger() -> Actions {
    (input, output, isLingering) = (.ended, .complete, true)
    return .linger
  }

  private mutating func close(_ actions: Actions) -> Actions {
    isClosed = true
    return actions
  }

  private mutating func endInput() -> Actions {
    isHalfClosed = true
    switch input {
    case .complete where isInFlight:
      persists = false
      return .tellHalfClosed
    case .body where isInFlight: return breakOff()
    case .dropping: return linger()
    case .ended where output == .sending: return []
    case .idle, .head, .body, .complete, .ended: return close(.close)
    }
  }

  private mutating func timeOut(_ wait: Wait) -> Actions {
    switch wait {
    case .handler: []
    case .idle, .linger: close(.close)
    case .head: refuse(408)
    case .body: input == .dropping ? linger() : giveUp(408)
    case .output: close(isInFlight ? [.cancel, .abort] : .abort)
    }
  }
}
