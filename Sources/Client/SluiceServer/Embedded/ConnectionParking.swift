import CMicrohttpd
import SluiceSupport

/// The connections of one worker that wait for a deferred answer.
///
/// Any thread can release a connection. The alarm then wakes the worker's thread, and only this thread calls
/// libmicrohttpd.
final class ConnectionParking: Sendable {
  typealias Ticket = UInt64

  private struct State {
    var isClosed = false
    var nextTicket: Ticket = 0
    var parked: [Ticket: Connection] = [:]
    var released: [Connection] = []
    var answers: [Ticket: ServerResponse] = [:]
  }

  private let state = Locked(State())
  private let alarm: Alarm

  init(alarm: Alarm) {
    self.alarm = alarm
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Suspends the connection. Returns nil if the parking is closed. Call it on the worker.
  func park(_ connection: Connection) -> Ticket? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.nextTicket += 1
      MHD_suspend_connection(connection.pointer)
      state.parked[state.nextTicket] = connection
      return state.nextTicket
    }
  }

  /// Stores the answer for the worker. Returns false if the ticket was used before. Can be called from any thread.
  func release(_ ticket: Ticket, with response: ServerResponse) -> Bool {
    let isFirst = state.withLock { state in
      guard let connection = state.parked.removeValue(forKey: ticket) else { return false }
      state.answers[ticket] = response
      state.released.append(connection)
      return true
    }
    if isFirst { alarm.ring() }
    return isFirst
  }

  /// Resumes released connections. Call it on the worker.
  func resumeReleased() {
    let released = state.withLock { state in
      defer { state.released = [] }
      return state.released
    }
    for connection in released { MHD_resume_connection(connection.pointer) }
  }

  /// Removes and returns the answer for a connection that was resumed; nil if it was resumed only to be closed. Call it
  /// on the worker.
  func takeAnswer(_ ticket: Ticket) -> ServerResponse? {
    state.withLock { $0.answers.removeValue(forKey: ticket) }
  }

  /// Releases every connection without an answer, and refuses further connections. Can be called from any thread.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.released += state.parked.values
      state.parked = [:]
    }
    alarm.ring()
  }
}
