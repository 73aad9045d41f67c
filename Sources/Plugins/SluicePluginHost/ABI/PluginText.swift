import CSluice
import SluiceMessages

/// Takes texts of plugins into the host.
///
/// The length of each text is limited here. So no limit is needed where the texts are kept or shown: in results, in
/// logs, in the status and in reports. Bytes that are not UTF-8 become U+FFFD.
package enum PluginText {
  /// The limit for the code of `fail`.
  static let codeBytes = 64
  /// The limit for the message of `fail`.
  static let messageBytes = 4 << 10
  /// The limit for a line of `log`.
  static let lineBytes = 8 << 10
  /// The limit for the reason of a refusal, which can come from a plugin in a trial.
  package static let reasonBytes = 4 << 10

  /// The limit for the name of a span.
  static let spanNameBytes = 128
  /// The limit for the text of a span's attribute and the message of its status.
  static let spanTextBytes = 1 << 10
  /// The limit for the short texts of an event that is queued: its method, its codes, its stages.
  static let eventTextBytes = 256

  /// The original text, including line breaks; for documents, which may contain them.
  static func message(_ text: sluice_text) -> String { cut(text, messageBytes) ?? "" }

  /// One line for a log; nil if the text is malformed.
  static func line(_ text: sluice_text) -> String? {
    cut(text, lineBytes).map { PlainText.line($0, limitBytes: lineBytes) }
  }

  /// The text of an attribute of a log record, on one line; nil if the text is malformed.
  static func attribute(_ text: sluice_text) -> String? {
    cut(text, Attribute.textBytes).map { PlainText.line($0, limitBytes: Attribute.textBytes) }
  }

  /// The name of a span; nil if it is malformed.
  static func spanName(_ text: sluice_text) -> String? {
    guard let bytes = text.bytes, (1...spanNameBytes).contains(bytes.count),
      let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: PlainText.acts)
    else { return nil }
    return text
  }

  /// The message of a span's status; nil if it is malformed.
  static func spanText(_ text: sluice_text) -> String? { cut(text, spanTextBytes) }

  /// The text up to a limit; nil if it is malformed. Reads only the part that is kept, plus enough to see that there
  /// was more.
  static func cut(_ text: sluice_text, _ limitBytes: Int) -> String? {
    guard let bytes = text.bytes else { return nil }
    guard bytes.count > limitBytes else { return String(decoding: bytes, as: UTF8.self) }
    // Up to four bytes more than fit, so that `cut` sees that the text is too long and drops an incomplete character.
    return PlainText.cut(String(decoding: bytes.prefix(limitBytes + 4), as: UTF8.self), limitBytes: limitBytes)
  }
}
