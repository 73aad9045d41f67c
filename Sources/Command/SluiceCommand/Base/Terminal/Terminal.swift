import Glibc

/// Whether a stream is a terminal, and how wide its window is.
struct Terminal: Sendable {
  let isTerminal: Bool
  /// Whether to use colour: on a terminal that supports it, unless `NO_COLOR` is set (no-color.org).
  let hasColor: Bool
  private let descriptor: Int32

  static let standardOutput = Terminal(StandardOutput.descriptor)
  static let standardError = Terminal(StandardError.descriptor)

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    let kind = getenv("TERM").map { String(cString: $0) } ?? ""
    let noColor = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    hasColor = isTerminal && !noColor && kind != "dumb" && !kind.isEmpty
  }

  var columns: Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  enum Color: String {
    case red = "31", green = "32", yellow = "33", dim = "2", bold = "1"
  }

  func colored(_ text: String, _ color: Color) -> String {
    hasColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }
}
