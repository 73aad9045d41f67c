import SluiceMessages
import SluiceTestKit

/// What one call asks for, what the server answers, and when and how the call is cancelled. The same seed and number
/// always give the same plan.
struct CancelPlan: Sendable {
  enum Call: CaseIterable, Sendable {
    case data, bytes, upload, download
  }

  enum Answer: CaseIterable, Sendable {
    /// The whole body.
    case whole
    /// The head and half of the body.
    case half
    /// Nothing at all, however long the call waits.
    case none
  }

  enum Moment: Sendable {
    case beforeTheCall
    /// The moment when `Task.yield()` was called this many times.
    case yields(Int)
    case requestSeen
    /// The caller has read this many bytes, or produced this many pieces. For data calls and downloads, the server has
    /// sent its part of the body.
    case bodyMoved(Int)
    case theEnd
  }

  enum Means: CaseIterable, Sendable {
    case task, handle, both
    /// The reader drops the sequence.
    case release
  }

  let number: Int
  let call: Call
  let answer: Answer
  let byteCount: Int
  let moment: Moment
  let means: Means
  /// Whether the call is cancelled from another thread.
  let isFromThread: Bool
  /// Whether a reader of bytes stops in the middle of the body and waits for the cancellation.
  let holdsReading: Bool

  init(seed: UInt64, number: Int) {
    var random = SeededRandom(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
    self.number = number
    // Of each ten calls of a kind, three have a fixed moment: too early, while the call runs, and too late. So each run
    // has enough of each, whatever the seed and the machine.
    let call = Call.allCases[number % 4]
    let fixed: (Moment, Answer)? =
      switch number / 4 % 10 {
      case 0: (.beforeTheCall, .half)
      case 1: (.requestSeen, .half)
      case 2: (.theEnd, .whole)
      default: nil
      }
    let answer = fixed?.1 ?? Answer.allCases[Int.random(in: 0..<3, using: &random)]
    // The largest size is above the client's buffer of 1 MiB, so the engine pauses the transfer of a reader that stops.
    let byteCount = [2, 40_000, 3_000_000][[0, 0, 0, 1, 1, 1, 1, 2].randomElement(using: &random) ?? 0]
    let isRead = call == .bytes && answer != .none
    let isReleased = isRead && fixed == nil && Int.random(in: 0..<3, using: &random) == 0
    let parts = call == .upload ? 20 : byteCount / 2
    let moved = Moment.bodyMoved(Int.random(in: 1...max(1, parts), using: &random))
    var moments: [Moment] = [.beforeTheCall, .yields(Int.random(in: 0..<60, using: &random)), .requestSeen]
    if answer == .whole { moments.append(.theEnd) }
    if answer != .none || call == .upload { moments += [moved, moved] }
    self.call = call
    self.answer = answer
    self.byteCount = byteCount
    moment = fixed?.0 ?? (isReleased ? moved : moments.randomElement(using: &random) ?? .requestSeen)
    means = isReleased ? .release : Means.allCases[Int.random(in: 0..<3, using: &random)]
    isFromThread = Bool.random(using: &random)
    holdsReading = !isReleased && Bool.random(using: &random)
  }

  /// Whether the uploaded body has an end. An upload without a complete answer never ends by itself.
  var isUploadFinite: Bool { answer == .whole }
}

/// How a call ended.
enum CancelEnd: Equatable, Sendable {
  case whole
  case cancelled
  case released
  /// Any other end. It fails the test.
  case failed(String)
}
