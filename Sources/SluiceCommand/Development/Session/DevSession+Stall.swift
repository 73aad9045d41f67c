import Glibc
import Sluice
import SluiceJSON
import SluiceSupport

// An engine whose loops do not come back. Nothing inside its process can take a loop away from a plugin, so the process
// is ended.
extension DevSession {
  func notePulse(_ document: JSONValue) {
    watchPulse()
    engine?.watch?.note(document, at: MonotonicClock.now)
  }

  /// Begins at the first sign of a process, so that a process which falls silent between that sign and its first pulse
  /// is found too.
  func watchPulse() {
    guard let engine, engine.watch == nil else { return }
    self.engine?.watch = StallWatch(at: MonotonicClock.now)
    after(EnginePulse.period, .lookAtPulse(engine.number))
  }

  /// Kills the process when it has been stuck for too long; its end is then reported like a crash.
  func lookAtPulse() {
    guard let engine, engine.stall == nil else { return }
    after(EnginePulse.period, .lookAtPulse(engine.number))
    guard let limit = configuration?.stallKillLimit, limit > .zero else { return }
    guard let stall = self.engine?.watch?.look(at: MonotonicClock.now, limit: limit) else { return }
    self.engine?.stall = stall
    engine.process.kill(SIGKILL)
  }
}
