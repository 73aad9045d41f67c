import Glibc
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Appends lines to a file in the folder of the command, which shows the lines. Opens the file for each line: the
/// program may close every descriptor that it did not open.
struct FileReporter: Reporter {
  let folder: String

  func log(_ line: LogLine) {
    write(kind: "log") { text in
      text.number("level", line.level.rawValue)
      if let stage = line.stage { text.text("stage", stage) }
      text.text("message", line.message)
    }
  }

  func report(_ result: TransactionResult) {
    guard let explanation = result.explanation else { return }
    write(kind: "transfer") { $0.text("text", ExplanationText.of(explanation)) }
  }

  private func write(kind: String, _ body: (inout JSONText) -> Void) {
    var text = JSONText()
    text.object { line in
      line.text("kind", kind)
      line.number("pid", getpid())
      body(&line)
    }
    guard
      let file = FileDescriptor(
        opening: "\(folder)/reports", O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, mode: 0o600)
    else { return }
    _ = file.writeAll(text.line())
  }
}
