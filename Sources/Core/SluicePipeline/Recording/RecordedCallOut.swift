package import SluiceMessages
import Synchronization

/// A call-out of a plugin, and its answer. The headers and the body of the request are not kept, because they often are
/// credentials.
package struct RecordedCallOut: Sendable {
  package var method: String
  package var url: HTTPURL
  /// Nil without a response.
  package var response: Response?
  /// Why there is no response.
  package var error: TransportError?

  package init(_ request: Request, response: Response? = nil, error: TransportError? = nil) {
    self.init(method: request.method, url: request.url, response: response, error: error)
  }

  package init(method: String, url: HTTPURL, response: Response? = nil, error: TransportError? = nil) {
    self.method = method
    self.url = url
    self.response = response
    self.error = error
  }
}

/// The call-outs of an engine that ended and that no recording has taken yet. A recording takes all of them, because a
/// call-out often serves several transactions, and a replay looks for answers in all recordings. Can be used on any
/// thread.
package final class CallOutLog: Sendable {
  /// Without recordings, the log keeps only the last call-outs.
  private static let maximumCount = 64
  private static let maximumBytes = 1 << 20

  private let calls = Mutex<[RecordedCallOut]>([])

  package init() {}

  package func note(_ call: RecordedCallOut) {
    calls.withLock { calls in
      calls.append(call)
      var byteCount = calls.reduce(0) { $0 + $1.byteCount }
      while calls.count > Self.maximumCount || byteCount > Self.maximumBytes, let first = calls.first {
        byteCount -= first.byteCount
        calls.removeFirst()
      }
    }
  }

  func take() -> [RecordedCallOut] {
    calls.withLock { calls in
      defer { calls = [] }
      return calls
    }
  }
}

extension RecordedCallOut {
  /// The approximate size in memory.
  package var byteCount: Int {
    guard let response else { return 256 }
    return 256 + response.headers.wireByteCount + (response.body.bytes?.count ?? 0)
  }
}
