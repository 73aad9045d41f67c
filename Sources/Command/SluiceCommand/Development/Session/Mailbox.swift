import SluiceSupport

/// Passes messages from any thread to the one thread that takes them.
final class Mailbox<Message: Sendable>: Sendable {
  private let messages = Monitor<[Message]>([])

  func put(_ message: Message) { messages.update { $0.append(message) } }

  /// Waits for messages until the given time of the monotonic clock. If the time is nil, waits without a limit.
  func take(until due: Duration?) -> [Message] {
    let body = { (all: inout [Message]) -> [Message]? in
      guard !all.isEmpty else { return nil }
      defer { all = [] }
      return all
    }
    guard let due else { return messages.wait(body) }
    return messages.wait(upTo: max(due - MonotonicClock.now, .zero), body) ?? []
  }
}
