import SluiceAssembly
import SluiceLoop

/// Finds loops that stand still, as opposed to loops that work or sleep, by regular checks.
struct PulseDetector {
  /// A loop that has stood still for at least the limit, or whose thread has ended.
  struct Standstill: Hashable {
    /// The loop's index.
    var loop: Int
    /// The time since the loop was first seen in its current turn.
    var age: Duration
    /// Code on the loop's thread has ended the thread; the loop never runs again.
    var hasDied: Bool
  }

  private struct Sighting {
    var pulse: LoopPulse
    var since: Duration
  }

  /// The entries by the index of the loop.
  private var sightings: [Int: Sighting] = [:]
  private(set) var standstills: [Standstill] = []

  /// - Parameters:
  ///   - pulses: the pulses of the loops, in the order of the loops.
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

extension LoopObstacle {
  init(_ standstill: PulseDetector.Standstill, _ call: Call?) {
    self.init(loop: standstill.loop, hasDied: standstill.hasDied, age: standstill.age, call: call)
  }
}
