import SluiceJSON
import SluiceMessages

/// The facts about an input line that its result line from an earlier run contains.
struct WrittenResult {
  let line: Int
  let id: IDFingerprint
  let isFailure: Bool

  /// Why a line is not a result.
  struct Damage: Error {
    let reason: String
  }

  /// The text with which every result begins.
  private static let beginning = Array(#"{"id":"#.utf8)

  init(parsing text: UnsafeRawBufferPointer) throws(Damage) {
    guard !InputLines.isBlank(text) else { throw Damage(reason: "it is blank") }
    let document: JSONValue
    do { document = try JSONValue(parsing: text, options: .rejectDuplicates) } catch {
      throw Damage(reason: "column \(error.column ?? 1): not JSON: \(error.message)")
    }
    guard document.isObject, document["id"] != nil, document["attempts"]?.integer != nil else {
      throw Damage(reason: "not a result of sluice run")
    }
    guard let line = document["line"]?.integer.flatMap({ Int(exactly: $0) }), line > 0 else {
      throw Damage(reason: "it has no \"line\", the number of its request line; an older version has written it")
    }
    guard let idText = ResultID(of: document, text: text)?.text else { throw Damage(reason: "its id is no scalar") }
    self.line = line
    // An input line that could not be parsed has no id. The id of its result is the line number, so there is nothing to
    // compare.
    let isUnread = document["error"]?["code"]?.string == "invalid_request" && idText.elementsEqual("\(line)".utf8)
    self.id = isUnread ? .ofUnreadLine : IDFingerprint(of: idText)
    isFailure = document["error"] != nil
  }

  /// Whether this text can be the beginning of a result that a killed process has not written completely.
  static func isBeginning(_ text: UnsafeRawBufferPointer) -> Bool {
    text.prefix(beginning.count).elementsEqual(beginning.prefix(text.count))
  }
}
