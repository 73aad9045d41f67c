import SluiceJSON
import SluiceMessages

/// The phases of a hop as an archive has them: in milliseconds, and -1 for a phase that did not happen.
struct EntryTimings {
  private let phases: [(name: String, microseconds: Int?)]
  /// In this format, the phase `connect` includes the tunnel of a proxy and the TLS handshake, so the handshake is not
  /// one of `phases`.
  private let handshake: Int?

  init(_ timings: TransferTimings) {
    func microseconds(_ duration: Duration) -> Int { Int(clamping: max(0, Int64(duration / .microseconds(1)))) }
    func phase(_ duration: Duration) -> Int? { duration > .zero ? microseconds(duration) : nil }
    handshake = phase(timings.tlsHandshake)
    phases = [
      ("blocked", microseconds(timings.queue)), ("dns", phase(timings.nameLookup)),
      ("connect", phase(timings.connect + timings.tunnel + timings.tlsHandshake)), ("send", microseconds(timings.send)),
      ("wait", microseconds(timings.wait)), ("receive", microseconds(timings.receive)),
    ]
  }

  /// Adds the member `time`, the sum of the phases.
  func addTotal(to entry: inout JSONText) {
    entry.milliseconds("time", phases.reduce(0) { $0 + ($1.microseconds ?? 0) })
  }

  /// Adds the member `timings`.
  func add(to entry: inout JSONText) {
    entry.object("timings") { object in
      for phase in phases { object.milliseconds(phase.name, phase.microseconds) }
      object.milliseconds("ssl", handshake)
    }
  }
}

extension JSONText {
  fileprivate mutating func milliseconds(_ key: String, _ microseconds: Int?) {
    guard let microseconds else { return number(key, -1) }
    if microseconds % 1000 == 0 { number(key, microseconds / 1000) } else { real(key, Double(microseconds) / 1000) }
  }
}
