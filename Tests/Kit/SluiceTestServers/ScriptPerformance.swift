import Glibc
import SluiceServer
import SluiceTestKit

/// A connection that follows its script.
struct ScriptPerformance {
  let socket: StreamSocket
  let isStopped: Signal
  let record: @Sendable ([UInt8]) -> Void
  /// Bytes that were received but not yet consumed by a step.
  private var pending: [UInt8] = []

  init(socket: StreamSocket, isStopped: Signal, record: @escaping @Sendable ([UInt8]) -> Void) {
    self.socket = socket
    self.isStopped = isStopped
    self.record = record
  }

  /// Plays the steps of a script, and then closes the connection. Ends early if the client disconnects or the server is
  /// stopped.
  mutating func play(_ script: [ScriptStep]) {
    for step in script where !isStopped.isSet {
      guard (try? perform(step)) == true else { break }
    }
    end()
  }

  /// Answers one request after the other with its steps, until a step closes the connection or the client disconnects.
  mutating func answer(_ answer: ScriptedServer.Answer) {
    var index = 0
    requests: while !isStopped.isSet, let head = try? receiveRequest() {
      for step in answer(head, index) where !isStopped.isSet {
        guard (try? perform(step)) == true else { break requests }
      }
      index += 1
    }
    end()
  }

  private func end() {
    // The shutdown sends the FIN at once. `close` alone might send it later: if another test has just started a
    // process, that process holds a copy of the descriptor until its exec.
    socket.shutdownWriting()
    socket.close()
  }

  /// Plays a step. Returns false if the script ends here: the client ended its stream too early, or the step closed the
  /// connection.
  private mutating func perform(_ step: ScriptStep) throws -> Bool {
    switch step {
    case .receiveHead: return try receiveHead() != nil
    case .receiveRequest: return try receiveRequest() != nil
    case .receive(let count): return try receive(count)
    case .receiveToEnd: while try receiveSome() { pending = [] }
    case .receiveFrame(let type): return try receiveFrame(type)
    case .send(let bytes): try socket.write(bytes)
    case .sendPattern(let pattern, let byteCount): try send(pattern, byteCount)
    case .drip(let bytes): try drip(bytes)
    case .signal(let signal): signal.set()
    case .wait(let signal): signal.waitBlocking(or: isStopped)
    case .tunnel(let port): try tunnel(to: port)
    case .shutdownWriting: socket.shutdownWriting()
    case .close: return false
    case .reset:
      socket.reset()
      // The socket is closed now, and another connection can have its descriptor's number.
      return false
    }
    return true
  }

  private mutating func receiveSome() throws -> Bool {
    let bytes = try socket.read()
    record(bytes)
    pending += bytes
    return !bytes.isEmpty
  }

  /// Reads `count` bytes and drops them, so that a large body takes no memory.
  private mutating func receive(_ count: Int) throws -> Bool {
    var missing = count
    while pending.count < missing {
      missing -= pending.count
      pending = []
      guard try receiveSome() else { return false }
    }
    pending.removeFirst(missing)
    return true
  }

  private mutating func receiveFrame(_ type: UInt8) throws -> Bool {
    while true {
      while pending.count < 9 { guard try receiveSome() else { return false } }
      let found = pending[3]
      let count = pending[..<3].reduce(0) { $0 << 8 | Int($1) }
      guard try receive(9 + count) else { return false }
      if found == type { return true }
    }
  }

  private mutating func receiveHead() throws -> MessageHead? {
    while true {
      if let end = MessageHead.end(in: pending) {
        defer { pending.removeFirst(end) }
        return MessageHead(Array(pending[..<end]))
      }
      guard try receiveSome() else { return nil }
    }
  }

  private mutating func receiveRequest() throws -> MessageHead? {
    guard let head = try receiveHead(), try receive(head.contentLength ?? 0) else { return nil }
    return head
  }

  private func tunnel(to port: UInt16) throws {
    let (near, far) = (socket, try StreamSocket.connect(port: port))
    let isBackDone = Signal()
    Threads.start {
      Self.copy(from: far, to: near)
      isBackDone.set()
    }
    Self.copy(from: near, to: far)
    isBackDone.waitBlocking()
    far.close()
  }

  private static func copy(from source: StreamSocket, to target: StreamSocket) {
    while let bytes = try? source.read(), !bytes.isEmpty, (try? target.write(bytes)) != nil {}
    source.shutdownBoth()
    target.shutdownBoth()
  }

  private func drip(_ bytes: [UInt8]) throws {
    while !isStopped.isSet {
      for byte in bytes {
        try socket.write([byte])
        _ = poll(nil, 0, 5)
      }
    }
  }

  private func send(_ pattern: BytePattern, _ byteCount: Int) throws {
    var sent = 0
    while sent < byteCount {
      let piece = pattern.bytes(from: UInt64(sent), count: min(65536, byteCount - sent))
      try socket.write(piece)
      sent += piece.count
    }
  }
}
