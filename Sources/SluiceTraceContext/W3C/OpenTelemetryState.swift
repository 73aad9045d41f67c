/// The member `ot` of a `tracestate`, in which OpenTelemetry keeps what concerns sampling.
enum OpenTelemetryState {
  /// The value of `rv`, which stands for the random bits of the trace id: 14 digits. Nil where the state is not valid.
  static func randomValue(_ state: Span<UInt8>) -> UInt64? {
    guard let value = TraceState.value(of: "ot", in: state), TraceState.content(state) != nil else { return nil }
    var start = value.lowerBound
    while start < value.upperBound {
      var end = start
      while end < value.upperBound, state[end] != UInt8(ascii: ";") { end += 1 }
      if end - start == 17, state[start] == UInt8(ascii: "r"), state[start + 1] == UInt8(ascii: "v"),
        state[start + 2] == UInt8(ascii: ":")
      {
        return Hexadecimal.number(state, start + 3..<end)
      }
      start = end + 1
    }
    return nil
  }
}
