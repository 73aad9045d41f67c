import Glibc
import Sluice
import SluiceJSON
import SluiceSupport

// Engines with stuck loops. Nothing inside the engine's process can take a loop away from a plugin, so the session ends
// the process.
extension DevSession {
  func notePulse(_ document: JSONValue) {
    watchPulse()
    engine?.watch?.note(document, at: MonotonicClock.now)
  }

  /// Called for each message of a process. The watch begins with the first message of any kind, so that it also notices
  /// a process that never sends a pulse.
  func watchPulse() {
    guard let engine, engine.watch == nil else { return }
    self.engine?.watch = StallWatch(at: MonotonicClock.now)
    after(EnginePulse.period, .lookAtPulse(engine.number))
  }

  /// Kills a process that has been stuck for too long. Its end is then reported like a crash.
  func lookAtPulse() {
    guard let engine, engine.stall == nil else { return }
    after(EnginePulse.period, .lookAtPulse(engine.number))
    guard let limit = configuration?.stallKillLimit, limit > .zero else { return }
    guard let stall = self.engine?.watch?.stall(at: MonotonicClock.now, limit: limit) else { return }
    self.engine?.stall = stall
    engine.process.kill(SIGKILL)
  }
}
