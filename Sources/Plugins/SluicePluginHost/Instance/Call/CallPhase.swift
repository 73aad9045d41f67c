/// The kind of a call, which decides what the call may do with its exchange. The cases have the same numbers as those
/// of ``PluginCallback``.
enum CallPhase: UInt8 {
  case request
  case issue
  case response
  case failure
  case redirect
  case challenge
  /// on_chunk, on_end and on_trailer of the side.
  case requestPiece
  case responsePiece
  /// A tracer's call.
  case event
  /// on_informational.
  case informational
  /// A posted function, before it enters an exchange.
  case posted

  /// Whether method, URL and body of the request can be changed.
  var writesRequest: Bool { self == .request }
  var writesRequestHeaders: Bool { self == .request || self == .issue || self == .challenge }
  /// Whether the response can be replaced.
  var responds: Bool { self == .request || self == .response || self == .failure }
  /// Whether the call returns an answer, so that the plugin can answer with a failure.
  var fails: Bool { self != .event && self != .informational }
  var suspends: Bool { self != .issue && self != .event && self != .informational && self != .posted }
}
