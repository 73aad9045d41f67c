import Glibc
import Sluice
import SluiceJSON
import SluiceLocks

// An engine whose loops do not come back: nobody in its process can take a loop from a plugin, so the process is ended.
extension DevSession {
  func notePulse(_ document: JSONValue) {
    watchPulse()
    engine?.watch?.note(document, at: MonotonicClock.now)
  }

  /// From the first sign of a process on: one that falls silent after it is ready, and before its first pulse, is silent too.
  func watchPulse() {
    guard let engine, engine.watch == nil else { return }
    self.engine?.watch = StallWatch(at: MonotonicClock.now)
    after(EnginePulse.period, .lookAtPulse(engine.number))
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
