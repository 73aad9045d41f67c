import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Random answers to requests, as an unreliable network would give them.
final class RandomAnswers: Sendable {
  private let generator: Locked<TrafficGenerator>
  private let count = Locked(0)

  init(_ generator: TrafficGenerator) { self.generator = Locked(generator) }

  func next() -> StubTransport.Reply {
    let number = count.withLock { count in
      count += 1
      return count
    }
    switch number % 8 {
    case 3: return .connectFailure(TransportError(.connect, "nobody listens", isBeforeSending: true))
    case 6: return .failure(TransportError(.connectionLost, "the connection was lost"))
    default:
      let response = generator.withLock { $0.response() }
      guard number % 2 == 0, let bytes = response.body.bytes, bytes.count > 1 else { return .response(response) }
      return .response(response, pieces: [Array(bytes.prefix(1)), [], Array(bytes.dropFirst())])
    }
  }
}
