/// The kinds of headers that the built-in `headers` sets, by their names in its configuration.
enum HeaderKind: String, Sendable, CaseIterable {
  /// The headers of every propagator except baggage.
  case trace
  case baggage
  case requestID = "requestId"
  case sessionID = "sessionId"
  case fixed = "static"
}

/// The set of kinds that a host gets.
struct HeaderKinds: OptionSet, Sendable, Hashable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }
  init(_ kind: HeaderKind) {
    rawValue =
      switch kind {
      case .trace: 1
      case .baggage: 2
      case .requestID: 4
      case .sessionID: 8
      case .fixed: 16
      }
  }

  static let trace = HeaderKinds(.trace)
  static let baggage = HeaderKinds(.baggage)
  static let requestID = HeaderKinds(.requestID)
  static let sessionID = HeaderKinds(.sessionID)
  static let fixed = HeaderKinds(.fixed)
  static let all: HeaderKinds = [.trace, .baggage, .requestID, .sessionID, .fixed]
}
