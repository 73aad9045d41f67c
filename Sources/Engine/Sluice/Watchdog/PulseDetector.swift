import SluiceAssembly
import SluiceLoop

/// Finds stuck loops by regular checks. A loop that works or sleeps is not stuck.
struct PulseDetector {
  /// A loop that has made no progress for at least the limit, or whose thread has ended.
  struct Standstill: Hashable {
    /// The loop's index.
    var loop: Int
    /// The time since the loop was first seen in its current turn.
    var age: Duration
    /// Whether the loop's thread has ended, so that the loop never runs again.
    var hasDied: Bool
    /// Whether it has ended because the loop's descriptors were closed.
    var hasLostDescriptors = false
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
  mutating func note(_ pulses: [LoopPulse], at now: Duration, limit: Duration) {
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
      guard pulse.hasDied || age >= limit else { continue }
      standstills.append(
        Standstill(loop: loop, age: age, hasDied: pulse.hasDied, hasLostDescriptors: pulse.hasLostDescriptors))
    }
  }
}

extension LoopObstacle {
  init(_ standstill: PulseDetector.Standstill, _ call: Call?) {
    self.init(
      loop: standstill.loop, hasDied: standstill.hasDied, hasLostDescriptors: standstill.hasLostDescriptors,
      age: standstill.age, call: call)
  }
}
