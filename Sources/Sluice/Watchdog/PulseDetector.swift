import SluiceTransport

/// Tells loops that do not move from those that work or sleep, by looking now and then.
struct PulseDetector {
  /// A loop that has not moved for the limit at least.
  struct Standstill: Hashable {
    /// The loop's index.
    var loop: Int
    /// Since it was first seen in the turn that it is in.
    var age: Duration
    /// Its thread was ended from within: it never moves again.
    var hasDied: Bool
  }

  private struct Sighting {
    var pulse: LoopPulse
    var since: Duration
  }

  /// By the index of the loop.
  private var sightings: [Int: Sighting] = [:]
  private(set) var standstills: [Standstill] = []

  /// - Parameters:
  ///   - pulses: of the loops, in their order.
  ///   - limit: how long one turn of a loop may take.
  mutating func look(_ pulses: [LoopPulse], at now: Duration, limit: Duration) {
    standstills = []
    for (loop, pulse) in pulses.enumerated() {
      guard !pulse.isAsleep || pulse.hasDied else {
        sightings[loop] = nil
        continue
      }
      var sighting = sightings[loop] ?? Sighting(pulse: pulse, since: now)
      if sighting.pulse.turn != pulse.turn { sighting = Sighting(pulse: pulse, since: now) }
      sightings[loop] = sighting
      let age = now - sighting.since
      if pulse.hasDied || age >= limit { standstills.append(Standstill(loop: loop, age: age, hasDied: pulse.hasDied)) }
    }
  }
}
