package import SluiceMessages

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
/// call-out often serves several transactions, and a replay looks for answers in all recordings.
package struct RecentCallOuts: Sendable {
  /// Without recordings, only the last call-outs are kept.
  private static let maximumCount = 64
  private static let maximumBytes = 1 << 20

  package private(set) var calls: [RecordedCallOut] = []

  package init() {}

  package mutating func append(_ call: RecordedCallOut) {
    calls.append(call)
    var byteCount = calls.reduce(0) { $0 + $1.byteCount }
    while calls.count > Self.maximumCount || byteCount > Self.maximumBytes, let first = calls.first {
      byteCount -= first.byteCount
      calls.removeFirst()
    }
  }

  package mutating func takeAll() -> [RecordedCallOut] {
    defer { calls = [] }
    return calls
  }
}

/// The ``RecentCallOuts`` of all loops of an engine. Can be used on any thread. A protocol, because this module has no
/// lock that the thread sanitizer sees.
package protocol CallOutLog: AnyObject, Sendable {
  func note(_ call: RecordedCallOut)
  func takeAll() -> [RecordedCallOut]
  /// The last call-outs, whether recordings have taken them or not.
  var last: [RecordedCallOut] { get }
}

extension RecordedCallOut {
  /// The approximate size in memory.
  package var byteCount: Int {
    guard let response else { return 256 }
    return 256 + response.headers.wireByteCount + (response.body.bytes?.count ?? 0)
  }
}
