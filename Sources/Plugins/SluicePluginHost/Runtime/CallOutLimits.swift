/// The limits for the call-outs of one instance.
package struct CallOutLimits: Sendable, Hashable {
  /// The maximum number of call-outs at the same time; beyond it, `start` answers `SLUICE_STATUS_LIMIT`.
  package var maximumUnderWay: Int
  /// The default timeout of a call-out, from its beginning to the complete response.
  package var timeout: Duration
  /// The default limit for a call-out's response.
  package var responseBytes: Int
  /// The highest limit that a call-out can ask for.
  package var maximumResponseBytes: Int

  package init(
    maximumUnderWay: Int = 256, timeout: Duration = .seconds(30), responseBytes: Int = 1_048_576,
    maximumResponseBytes: Int = 67_108_864
  ) {
    self.maximumUnderWay = maximumUnderWay
    self.timeout = timeout
    self.responseBytes = min(responseBytes, maximumResponseBytes)
    self.maximumResponseBytes = maximumResponseBytes
  }

  /// The limit for a call-out that asks for this many bytes; 0 asks for the host's limit.
  func bytes(asked: UInt64) -> Int {
    asked == 0 ? responseBytes : min(Int(clamping: asked), maximumResponseBytes)
  }

  /// The timeout for a call-out that asks for this many nanoseconds; 0 asks for the host's timeout.
  func timeout(asked: UInt64) -> Duration {
    asked == 0 ? timeout : .nanoseconds(Int64(clamping: asked))
  }
}
