import SluiceMessages
import SluicePipeline

/// The times of the steps of one request, counted from its start.
struct RequestTimeline: Sendable {
  enum Mark: Sendable {
    /// All request stages have returned.
    case configured
    case issued
    /// The head of a response, and the phases of its hop so far.
    case received(status: Int, TransferTimings?)
    case redirected
    case retrying(after: Duration)
    /// The end of the transaction, and the phases of its last hop.
    case completed(TransferTimings?)
  }

  /// A part of the time. The parts follow each other without gaps.
  enum Stretch: Equatable {
    /// The time in which the request stages run or wait.
    case requestStages(Range<Duration>)
    case hop(Hop)
    /// The wait before the next attempt.
    case delay(Range<Duration>)
  }

  struct Hop: Equatable {
    let attempt: Int
    let number: Int
    let begin: Duration
    var issued: Duration?
    var received: Duration?
    var end: Duration
    var status = 0
    var timings: TransferTimings?
  }

  private var marks: [(at: Duration, mark: Mark)] = []

  mutating func append(_ mark: Mark, at time: Duration) { marks.append((time, mark)) }

  var stretches: [Stretch] {
    var reader = Reader()
    for (time, mark) in marks { reader.take(mark, at: max(time, reader.cursor)) }
    return reader.stretches
  }

  /// Makes the parts of the time from the marks.
  private struct Reader {
    var stretches: [Stretch] = []
    /// The end of the last stretch.
    var cursor = Duration.zero
    private var attempt = 0
    private var hop: Hop?

    mutating func take(_ mark: Mark, at time: Duration) {
      switch mark {
      case .configured:
        close(at: time)
        open(number: 0)
      case .issued:
        // There is no mark for an answered challenge. If a second request is issued in the same attempt without a
        // redirect, the next hop therefore begins when the response of the previous hop was received.
        if let received = hop?.received { next(at: received) }
        hop?.issued = time
      case .received(let status, let timings):
        hop?.received = time
        hop?.status = status
        hop?.timings = timings
      case .redirected: next(at: time)
      case .retrying(let delay):
        close(at: time)
        stretches.append(.delay(time..<time + max(.zero, delay)))
        cursor = time + max(.zero, delay)
        attempt += 1
      case .completed(let timings):
        if let timings { hop?.timings = timings }
        close(at: time)
      }
    }

    private mutating func open(number: Int) {
      hop = Hop(attempt: attempt, number: number, begin: cursor, end: cursor)
    }

    /// Begins the next hop of the attempt.
    private mutating func next(at time: Duration) {
      let number = (hop?.number ?? -1) + 1
      close(at: time)
      open(number: number)
    }

    private mutating func close(at time: Duration) {
      if var hop = hop.take() {
        hop.end = time
        stretches.append(.hop(hop))
      } else if time > cursor {
        stretches.append(.requestStages(cursor..<time))
      }
      cursor = time
    }
  }
}
