import CSluice
import SluiceMessages

/// What a plugin says, on its way into the host. It is bounded here, once, so that every place that keeps or shows it has it
/// so: results, logs, the status, reports. Bytes that are not UTF-8 become U+FFFD.
enum PluginText {
  /// Of a code of `fail`.
  static let codeBytes = 64
  /// Of a message of `fail`.
  static let messageBytes = 4 << 10
  /// Of a line of the log.
  static let lineBytes = 8 << 10
  /// Of the reason of a refusal, which is a plugin's in a trial.
  static let reasonBytes = 4 << 10

  /// As it was said, line breaks too: for documents, which have a place for it.
  static func message(_ text: sluice_text) -> String { bounded(text, messageBytes) ?? "" }

  /// For a log: one line. Nil for a text that is malformed.
  static func line(_ text: sluice_text) -> String? {
    bounded(text, lineBytes).map { PlainText.line($0, limitBytes: lineBytes) }
  }

  /// No more is read than is kept, and what shows that there was more.
  private static func bounded(_ text: sluice_text, _ limitBytes: Int) -> String? {
    guard let bytes = text.bytes else { return nil }
    guard bytes.count > limitBytes else { return String(decoding: bytes, as: UTF8.self) }
    // One character more than fits, so that the cut is seen; half of one is left away.
    return PlainText.cut(String(decoding: bytes.prefix(limitBytes + 4), as: UTF8.self), limitBytes: limitBytes)
  }
}
