extension LatencySnapshot {
  /// The bounds, in seconds, that OpenTelemetry recommends for `http.client.request.duration`.
  package static let openTelemetryBounds: [Double] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ]

  /// The counts between bounds, which are in seconds and in ascending order. The result has one more element than
  /// `bounds`.
  ///
  /// The element at `i` counts durations above bound `i - 1` and up to bound `i`, and the last element counts durations
  /// above every bound. The counts are not cumulative, and their sum is ``count``. A duration within 1/16 of a bound
  /// may be counted on the other side of this bound.
  package func counts(withinSeconds bounds: [Double]) -> [UInt64] {
    var result = [UInt64](repeating: 0, count: bounds.count + 1)
    var slot = 0
    for index in counts.indices where counts[index] > 0 {
      let seconds = Double(LatencyBuckets.middle(of: index)) / 1e9
      while slot < bounds.count, seconds > bounds[slot] { slot += 1 }
      result[slot] &+= counts[index]
    }
    return result
  }
}
