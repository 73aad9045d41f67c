import CEnvoy
import SluiceAssembly
import SluiceMessages
import SluiceSupport

/// Lines in Envoy's log.
enum EnvoyLog {
  enum Level {
    case debug, info, warning, error
  }

  static func write(_ level: Level, _ message: String) {
    let number =
      switch level {
      case .debug: SLUICE_ENVOY_DEBUG
      case .info: SLUICE_ENVOY_INFO
      case .warning: SLUICE_ENVOY_WARNING
      case .error: SLUICE_ENVOY_ERROR
      }
    "sluice: \(PlainText.line(message, limitBytes: 4096))".utf8.span.withText { sluice_envoy_log(number, $0) }
  }

  /// Like ``write(_:_:)``, for lines that each stream can cause. Of one second, the first ten are written.
  static func writeSeldom(_ level: Level, _ message: String) {
    let second = Int(MonotonicClock.now.components.seconds)
    let (isWritten, dropped) = budget.withLock { $0.take(second) }
    if dropped > 0 { write(.warning, "\(dropped) lines about streams were left out") }
    if isWritten { write(level, message) }
  }

  private static let budget = Locked(Budget())

  private struct Budget {
    var second = 0
    var lines = 0

    /// Returns whether a line is written in this second, and how many lines were left out before.
    mutating func take(_ second: Int) -> (Bool, Int) {
      var dropped = 0
      if second != self.second {
        dropped = max(0, lines - 10)
        (self.second, lines) = (second, 0)
      }
      lines += 1
      return (lines <= 10, dropped)
    }
  }

  static func write(_ line: LogLine) {
    let level: Level =
      switch line.level {
      case .debug: .debug
      case .info: .info
      case .warning: .warning
      default: .error
      }
    write(level, line.stage.map { "stage \"\($0)\": \(line.message)" } ?? line.message)
  }
}
