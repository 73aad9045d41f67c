import Glibc
import Sluice
import SluiceJSON
import SluiceLocks

// An engine whose loops do not come back: nobody in its process can take a loop from a plugin, so the process is ended.
extension DevSession {
  func notePulse(_ document: JSONValue) {
    guard let engine else { return }
    let now = MonotonicClock.now
    if engine.watch == nil {
      self.engine?.watch = StallWatch(at: now)
      after(EnginePulse.period, .lookAtPulse(engine.number))
    }
    self.engine?.watch?.note(document, at: now)
  }

  /// Kills the process when something has lasted for too long; its end is told as that of a crash.
  func lookAtPulse() {
    guard let engine, engine.stall == nil else { return }
    after(EnginePulse.period, .lookAtPulse(engine.number))
    guard let limit = configuration?.stallKillLimit, limit > .zero else { return }
    guard let stall = self.engine?.watch?.look(at: MonotonicClock.now, limit: limit) else { return }
    self.engine?.stall = stall
    engine.process.kill(SIGKILL)
  }
}
