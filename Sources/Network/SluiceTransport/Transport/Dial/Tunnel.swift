import SluiceMessages

/// A connection to a proxy that is asked to connect to the server.
final class Tunnel: SocketEndpoint {
  let channel: Channel
  private var dialogue: any TunnelDialogue
  private var unsent: [UInt8]
  private unowned(unsafe) let dial: Dial

  enum Progress {
    case waiting, open
    case refused(TunnelRefusal)
    /// The proxy has ended the connection; 0 without an error of the system.
    case lost(Int32)
  }

  init(_ channel: Channel, _ dialogue: any TunnelDialogue, _ dial: Dial) {
    self.channel = channel
    self.dialogue = dialogue
    self.dial = dial
    unsent = dialogue.opening
  }

  override func isReady(_ events: UInt32) { dial.tunnelIsReady(self, events) }

  /// The refusal that is already known when time is up.
  var refusalAtEnd: TunnelRefusal? { dialogue.refusalAtEnd() }

  /// Sends and reads as far as possible.
  func proceed(_ buffer: UnsafeMutableRawBufferPointer) -> Progress {
    while true {
      if let lost = send() { return lost }
      // Only the bytes of the dialogue are taken; those after it are the server's.
      switch channel.peek(into: buffer) {
      case .wouldBlock where channel.isCut: continue
      case .wouldBlock: return .waiting
      case .end: return dialogue.refusalAtEnd().map { .refused($0) } ?? .lost(0)
      case .failed(let code): return dialogue.refusalAtEnd().map { .refused($0) } ?? .lost(code)
      case .bytes(let peeked):
        let (count, next) = dialogue.receive(
          UnsafeRawBufferPointer(rebasing: buffer[..<peeked]).assumingMemoryBound(to: UInt8.self).span)
        if count > 0 {
          guard case .bytes(count) = channel.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
          else { return .lost(0) }
        }
        switch next {
        case .more: continue
        case .send(let bytes): unsent += bytes
        case .open: return .open
        case .refused(let refusal): return .refused(refusal)
        }
      }
    }
  }

  /// Sends what is left. Returns how the connection was lost, if it was.
  private func send() -> Progress? {
    while !unsent.isEmpty {
      let outcome = unsent.withUnsafeBytes { channel.send($0, UnsafeRawBufferPointer(rebasing: $0[..<0])) }
      switch outcome {
      case .bytes(let count): unsent.removeFirst(count)
      case .wouldBlock: return nil
      case .end: return .lost(0)
      // The proxy may have answered before it closed the connection, so the answer is read first.
      case .failed: unsent = []
      }
    }
    return nil
  }
}
