import Glibc

/// The text of events, as a terminal shows it.
struct DevEventText {
  /// Names of up to this length are aligned in a column.
  private static let nameColumns = 12

  let terminal: Terminal

  /// - Parameter moment: the time since 1970-01-01T00:00:00Z; shown in the local time zone.
  func lines(_ event: DevEvent, at moment: Duration) -> [String] {
    guard !event.text.isEmpty else { return [] }
    // On a terminal, the status line shows the running work, so these events are not printed.
    guard event.name != .building || !terminal.isTerminal else { return [] }
    let names = event.plugins.isEmpty ? "-" : event.plugins.joined(separator: ", ")
    let padding = String(repeating: " ", count: max(0, Self.nameColumns - names.count))
    let name = terminal.colored(PrintableText.of(names), .bold) + padding
    let text = colored(PrintableText.line(event.text), event.tone)
    let time = terminal.colored(Self.clock(moment), .dim)
    return ["\(time) \(name) \(text)"] + event.details.map { "  \($0)" }
  }

  private func colored(_ text: String, _ tone: DevEvent.Tone) -> String {
    switch tone {
    case .plain: text
    case .good: terminal.colored(text, .green)
    case .bad: terminal.colored(text, .red)
    case .doubtful: terminal.colored(text, .yellow)
    case .quiet: terminal.colored(text, .dim)
    }
  }

  private static func clock(_ moment: Duration) -> String {
    var seconds = time_t(moment.components.seconds)
    var parts = tm()
    localtime_r(&seconds, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
  }
}
