import SluicePluginHost

/// Finds calls that block their loop for too long. It checks the loops regularly.
struct StallDetector {
  /// A call, and the minimum time for which it has been running.
  struct Stall: Equatable {
    var call: LoopCall
    var age: Duration
  }

  /// The changes since the last check.
  enum Finding: Equatable {
    case began(Stall)
    /// The call has ended, and lasted for the given time.
    case ended(Stall)
  }

  private struct Sighting {
    var call: LoopCall
    let since: Duration
    var last: Duration
    var isStall = false
  }

  /// The calls by the index of the loop.
  private var sightings: [Int: Sighting] = [:]

  /// The calls that have lasted for longer than the limit.
  var stalls: [Stall] {
    sightings.values.filter(\.isStall).map { Stall(call: $0.call, age: $0.last - $0.since) }
      .sorted { $0.call.loop < $1.call.loop }
  }

  /// - Parameters:
  ///   - calls: the current calls of the loops, at most one for each.
  ///   - limit: how long a call may last. If it is zero, no call is reported.
  mutating func findings(_ calls: [LoopCall], at now: Duration, limit: Duration) -> [Finding] {
    var findings: [Finding] = []
    let running = Dictionary(calls.map { ($0.loop, $0) }, uniquingKeysWith: { $1 })
    for (loop, sighting) in sightings.sorted(by: { $0.key < $1.key })
    where running[loop]?.number != sighting.call.number {
      sightings[loop] = nil
      if sighting.isStall { findings.append(.ended(Stall(call: sighting.call, age: now - sighting.since))) }
    }
    for call in calls {
      var sighting = sightings[call.loop] ?? Sighting(call: call, since: now, last: now)
      // If calls are nested, this is the innermost call.
      sighting.call = call
      sighting.last = now
      if !sighting.isStall, limit > .zero, now - sighting.since >= limit {
        sighting.isStall = true
        findings.append(.began(Stall(call: call, age: now - sighting.since)))
      }
      sightings[call.loop] = sighting
    }
    return findings
  }
}
