import SluicePluginHost

/// Tells calls that keep their loop for too long from those that come and go, by looking now and then.
struct StallDetector {
  /// A call, and how long it has been seen at least.
  struct Stall: Equatable {
    var call: LoopCall
    var age: Duration
  }

  /// What is new since the last look.
  enum Finding: Equatable {
    case began(Stall)
    /// The loop went on after so long.
    case ended(Stall)
  }

  private struct Sighting {
    var call: LoopCall
    let since: Duration
    var last: Duration
    var isStall = false
  }

  /// By the index of the loop.
  private var sightings: [Int: Sighting] = [:]

  /// The calls that last for longer than the limit.
  var stalls: [Stall] {
    sightings.values.filter(\.isStall).map { Stall(call: $0.call, age: $0.last - $0.since) }
      .sorted { $0.call.loop < $1.call.loop }
  }

  /// - Parameters:
  ///   - calls: what the loops are in at the moment, one each at most.
  ///   - limit: how long a call may last; zero finds nothing.
  mutating func look(_ calls: [LoopCall], at now: Duration, limit: Duration) -> [Finding] {
    var findings: [Finding] = []
    let running = Dictionary(calls.map { ($0.loop, $0) }, uniquingKeysWith: { $1 })
    for (loop, sighting) in sightings.sorted(by: { $0.key < $1.key })
    where running[loop]?.number != sighting.call.number {
      sightings[loop] = nil
      if sighting.isStall { findings.append(.ended(Stall(call: sighting.call, age: now - sighting.since))) }
    }
    for call in calls {
      var sighting = sightings[call.loop] ?? Sighting(call: call, since: now, last: now)
      // What it is in now, where it calls others in turn.
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
