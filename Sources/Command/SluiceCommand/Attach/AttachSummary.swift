import CAttachABI
import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceSupport

/// The output after the program has ended: why transfers bypassed the pipeline, and the explanations for `--explain`.
struct AttachSummary {
  private static let limitBytes = 64 << 20

  private let folder: AttachFolder
  private let explains: Bool
  /// The verb for transfers without the pipeline: "failed" or "went".
  private let fate: String

  init(_ folder: AttachFolder, explains: Bool, failsWithoutPipeline: Bool) {
    self.folder = folder
    self.explains = explains
    fate = failsWithoutPipeline ? "failed" : "went"
  }

  func show() {
    var messages: [LogLine: Int] = [:]
    var order: [LogLine] = []
    for report in reports {
      if explains, let text = report["text"]?.string { StandardError.write(PrintableText.of(text)) }
      guard let line = Self.line(report) else { continue }
      if messages[line] == nil { order.append(line) }
      messages[line, default: 0] += 1
    }
    // Each process of a script may report the same line, so equal lines are counted.
    for var line in order {
      if let count = messages[line], count > 1 { line.message += " (\(count) times)" }
      LogOutput.show(line)
    }
    for (count, reason) in Self.reasons {
      let number = folder.count(count)
      if number > 0 {
        StandardError.say(
          "attach: \(number) \(number == 1 ? "transfer" : "transfers") \(fate) without the pipeline: \(reason)")
      }
    }
    guard explains else { return }
    let attached = folder.count(SLUICE_ATTACH_COUNT_ATTACHED)
    let advice = attached == 0 ? "; attach --list PROGRAM says whether a program can be reached" : ""
    StandardError.say(
      "attach: \(attached) \(attached == 1 ? "transfer" : "transfers") went through the pipeline\(advice)")
  }

  private static let reasons = [
    (SLUICE_ATTACH_COUNT_NO_PLAN, "the plan could not be read or used"),
    (SLUICE_ATTACH_COUNT_NO_HOST, "the library of the pipeline is missing, was changed, or could not be opened"),
    (SLUICE_ATTACH_COUNT_SMALL_STACK, "there was no memory for a stack"),
    (SLUICE_ATTACH_COUNT_FOREIGN_JSON, "the program exports functions named like those of libjansson"),
    (SLUICE_ATTACH_COUNT_FORKED, "the process was forked while the pipeline was in use"),
    (SLUICE_ATTACH_COUNT_ENDING, "the process was ending, and its plugins had already sent their data"),
    (SLUICE_ATTACH_COUNT_OLD_CURL, "the program's libcurl is older than 7.83"),
    (SLUICE_ATTACH_COUNT_NAMESPACE, "the program has opened libcurl with dlmopen"),
    (SLUICE_ATTACH_COUNT_COPIES, "the program has looked up functions in more than eight copies of libcurl"),
    (SLUICE_ATTACH_COUNT_CONNECTION, "the program uses the connection itself (CURLOPT_CONNECT_ONLY)"),
    (SLUICE_ATTACH_COUNT_UNREADABLE, "the request could not be read, for example because of its URL"),
  ]

  private var reports: [JSONValue] {
    guard let file = FileDescriptor(opening: folder.reports, O_RDONLY | O_NOFOLLOW),
      let bytes = file.readAll(capacity: Self.limitBytes)
    else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue(parsing: Array($0)) }
  }

  private static func line(_ report: JSONValue) -> LogLine? {
    guard let message = report["message"]?.string else { return nil }
    let level = report["level"]?.integer.flatMap { LogLine.Level(rawValue: Int($0)) } ?? .error
    return LogLine(level: level, stage: report["stage"]?.string, message: PrintableText.line(message))
  }
}
