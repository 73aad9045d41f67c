import CLinux
import Glibc
package import SluiceLoop
import SluiceMessages
package import SluicePipeline
import SluiceSupport
import SluiceTransport

/// What a server does on one loop: it accepts connections, and gives each its events. Only the loop uses it, apart from
/// ``start(_:)``.
package final class ServerPort: LoopSource, LoopTimerTarget, @unchecked Sendable {
  // Sendable: other threads only pass it on to the loop.
  let loop: Loop
  let limits: ServerLimits
  /// The times of the limits in nanoseconds, because each request needs some of them.
  let waits: (idle: UInt64, head: UInt64, body: UInt64, linger: UInt64)
  let handler: any ServerHandler
  /// For all reads of the loop.
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  private let tls: ServerTLS?
  private var source = 0
  /// Nil after the port has stopped accepting.
  private var listener: SharedListener?
  private var isAccepting = false
  /// Indexed by the descriptor.
  private var connections: [ServerConnection?] = []
  private(set) var connectionCount = 0
  private var unread: [ServerConnection] = []
  private var unflushed: [ServerConnection] = []
  private let timer = LoopTimer()
  private var isTimerArmed = false
  private var onEmpty: (@Sendable () -> Void)?

  /// - Parameter tls: the settings of TLS; nil without TLS.
  package init(_ loop: Loop, _ limits: ServerLimits, tls: ServerTLS? = nil, _ handler: any ServerHandler) {
    (self.loop, self.limits, self.tls, self.handler) = (loop, limits, tls, handler)
    waits = (
      limits.idle.nanoseconds, limits.headTimeout.nanoseconds, limits.bodyIdle.nanoseconds, limits.linger.nanoseconds
    )
  }

  deinit { buffer.deallocate() }

  /// Begins to accept. Can be called on any thread.
  package func start(_ listener: SharedListener) {
    loop.post { [self] in
      source = loop.add(self)
      self.listener = listener
      accept(true)
    }
  }

  /// Accepts no further connections, and ends the others when their requests are answered. Calls the closure, on the
  /// loop, when none is left. Can be called on any thread.
  package func drain(_ onEmpty: @escaping @Sendable () -> Void) {
    loop.post { [self] in
      // The kernel would reset the connections that it has completed. Their requests can have been sent.
      if listener?.isInherited == false { acceptAll() }
      accept(false)
      listener = nil
      self.onEmpty = onEmpty
      for index in connections.indices {
        connections[index]?.readOn()
        // Reading can put another object in its place.
        connections[index]?.drain()
      }
      tellIfEmpty()
    }
  }

  /// Ends all connections at once. Can be called on any thread.
  package func stop() {
    loop.post { [self] in
      accept(false)
      listener = nil
      endAll()
    }
  }

  private func endAll() {
    for connection in connections { connection?.end() }
  }

  private func tellIfEmpty() {
    guard connectionCount == 0, let onEmpty else { return }
    self.onEmpty = nil
    onEmpty()
  }

  // MARK: Accepting

  /// The connections that are accepted in one turn, before others have theirs.
  private static let acceptsPerTurn = 64
  /// How long the port waits when descriptors or memory have run out.
  private static let pause = Duration.milliseconds(100)
  private static let checkInterval = Duration.milliseconds(500)

  private func accept(_ isAccepting: Bool) {
    guard let listener, isAccepting != self.isAccepting else { return }
    // Of several loops that wait for one socket, only one is woken (EPOLLEXCLUSIVE).
    let isDone = loop.poller.control(
      isAccepting ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener.descriptor,
      EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue, tag: loop.tag(source, listener.descriptor))
    self.isAccepting = isAccepting && isDone
    if isAccepting, !isDone { armTimer(Self.pause) }
  }

  private func acceptAll() {
    for _ in 0..<Self.acceptsPerTurn {
      guard let listener, isAccepting else { return }
      guard connectionCount < limits.connections else { return accept(false) }
      switch StreamSocket.accept(from: listener.descriptor) {
      case .socket(let socket): add(socket)
      case .none: return
      case .exhausted:
        accept(false)
        return armTimer(Self.pause)
      }
    }
  }

  private func add(_ socket: StreamSocket) {
    let index = Int(socket.descriptor)
    while connections.count <= index { connections.append(nil) }
    guard let channel = channel(socket) else { return socket.close() }
    let connection = ServerOpening(channel, self)
    let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    guard loop.poller.control(EPOLL_CTL_ADD, socket.descriptor, interest, tag: loop.tag(source, socket.descriptor))
    else {
      return
    }
    connections[index] = connection
    connectionCount += 1
    armTimer(Self.checkInterval)
  }

  /// Nil if there is no memory for TLS.
  private func channel(_ socket: StreamSocket) -> Channel? {
    guard let tls else { return Channel(socket: socket, tls: nil) }
    return (try? TLSServerChannel(socket.descriptor, tls.context)).map { Channel(socket: socket, tls: $0) }
  }

  func replace(_ connection: ServerConnection, by other: ServerConnection) {
    let index = Int(connection.descriptor)
    guard index < connections.count, connections[index] === connection else { return }
    connections[index] = other
  }

  func didClose(_ connection: ServerConnection) {
    let index = Int(connection.descriptor)
    guard index < connections.count, connections[index] === connection else { return }
    loop.poller.control(EPOLL_CTL_DEL, connection.descriptor, 0, tag: 0)
    connections[index] = nil
    connectionCount -= 1
    if connectionCount < limits.connections { accept(true) }
    tellIfEmpty()
  }

  // MARK: The loop

  package func descriptorIsReady(_ descriptor: Int32, _ events: UInt32) {
    if descriptor == listener?.descriptor { return acceptAll() }
    let index = Int(descriptor)
    guard index < connections.count, let connection = connections[index] else { return }
    let isEnd = events & StreamSocket.ends != 0
    // The event can be for a closed socket that had the same number, so an end must be an end of this socket.
    connection.isReady(isEnd ? events & ~StreamSocket.ends | StreamSocket.ends(of: descriptor) : events)
  }

  func readLater(_ connection: ServerConnection) {
    guard !connection.isUnread else { return }
    connection.isUnread = true
    unread.append(connection)
  }

  func flushLater(_ connection: ServerConnection) {
    guard !connection.isUnflushed else { return }
    connection.isUnflushed = true
    unflushed.append(connection)
  }

  package var hasWork: Bool { !unread.isEmpty || !unflushed.isEmpty }

  package func finishTurn() {
    if !unread.isEmpty {
      let connections = unread
      unread = []
      for connection in connections {
        connection.isUnread = false
        connection.readOn()
      }
    }
    guard !unflushed.isEmpty else { return }
    let connections = unflushed
    unflushed = []
    for connection in connections {
      connection.isUnflushed = false
      connection.flushUnlessBusy()
    }
  }

  package func loopWillEnd() {
    listener = nil
    endAll()
    loop.disarm(timer)
  }

  private func armTimer(_ delay: Duration) {
    guard !isTimerArmed else { return }
    isTimerArmed = true
    loop.arm(timer, at: loop.turnBegan + delay, for: self)
  }

  package func timerDidFire(_ timer: LoopTimer) {
    isTimerArmed = false
    if listener != nil, connectionCount < limits.connections { accept(true) }
    let now = loop.turnBegan
    for connection in connections { connection?.check(at: now) }
    if connectionCount > 0 { armTimer(Self.checkInterval) }
  }
}
