import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON

/// Writes events to standard output, as lines for people or as one document per line. Must be used on one thread only.
final class DevOutput {
  private let output: ByteOutput
  private let isJSON: Bool
  let terminal: Terminal
  private let text: DevEventText
  /// The status text in the last line of the terminal. The next event overwrites it.
  private var status = ""

  init(isJSON: Bool, terminal: Terminal = .standardOutput) throws(CommandError) {
    self.isJSON = isJSON
    self.terminal = terminal
    text = DevEventText(terminal: terminal)
    output = try ByteOutput(path: nil)
  }

  /// - Parameter handler: called once, on another thread, when the output can no longer be written.
  func onFailure(_ handler: @escaping @Sendable (ByteOutput.Failure) -> Void) {
    output.listen(ByteOutput.Listener(onRoom: {}, onFailure: handler))
  }

  func say(_ event: DevEvent) {
    let now = UniversalTime.now
    if isJSON {
      let line = (try? event.document(at: now).serialized()) ?? []
      output.append(line + [UInt8(ascii: "\n")])
    } else {
      let lines = text.lines(event, at: now)
      if !lines.isEmpty { output.append(Array((erasure + lines.map { $0 + "\n" }.joined() + status).utf8)) }
    }
  }

  /// Shows the running work. Has an effect only on a terminal.
  func show(status new: String) {
    guard !isJSON, terminal.isTerminal, new != shown else { return }
    shown = new
    let before = erasure
    status = new.isEmpty ? "" : terminal.colored(String(new.prefix(max(0, terminal.columns - 1))), .dim)
    output.append(Array((before + status).utf8))
  }

  private var shown = ""
  private var erasure: String { status.isEmpty ? "" : "\r\u{1B}[K" }

  /// Writes the remaining text.
  func finish() -> ByteOutput.Failure? {
    show(status: "")
    return output.finish()
  }
}
