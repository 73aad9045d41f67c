import SluiceMessages

/// How strictly a document is read.
package struct DocumentRules: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Refuses unknown keys and names them in the error. Without this rule, unknown keys are ignored.
  package static let knownKeysOnly = DocumentRules(rawValue: 1)
  /// Accepts header names in any case. Without this rule, a name that is not in lower case is refused, because a live
  /// document with two spellings of a name would give a different answer for each spelling.
  package static let namesInAnyCase = DocumentRules(rawValue: 2)
  /// Accepts `{"file": "…"}` as a body: the file is read when the message is sent, with the rights of this process.
  package static let files = DocumentRules(rawValue: 4)

  /// The rules for a line of input.
  package static let line: DocumentRules = [.knownKeysOnly, .namesInAnyCase, .files]
  /// The rules for a document that stages may have changed in place.
  package static let live: DocumentRules = [.files]
}

/// One object inside a document, with the path that errors name.
struct DocumentPart {
  let json: JSONValue
  let path: JSONPointer
  let rules: DocumentRules

  init(_ json: JSONValue, at path: JSONPointer = JSONPointer(), rules: DocumentRules) throws(MessageError) {
    self.json = json
    self.path = path
    self.rules = rules
    guard json.isObject else { throw failure("expected an object, found \(json.kindText)") }
  }

  func failure(_ reason: String) -> MessageError {
    MessageError(.invalidDocument, path.tokens.isEmpty ? "document" : PlainText.quote("\(path)"), reason)
  }

  func failure(at key: String, _ reason: String) -> MessageError {
    MessageError(.invalidDocument, PlainText.quote("\(path.appending(key))"), reason)
  }

  /// Refuses every key that is not in `known`, if the rules refuse unknown keys.
  func allowKeys(_ known: [String]) throws(MessageError) {
    guard rules.contains(.knownKeysOnly) else { return }
    for (key, _) in json.members where !known.contains(key) {
      throw failure(at: key, "unknown key; known here: \(known.joined(separator: ", "))")
    }
  }

  func string(_ key: String) throws(MessageError) -> String? {
    guard let value = json[key] else { return nil }
    guard let text = value.string else { throw failure(at: key, "expected a string, found \(value.kindText)") }
    return text
  }

  func integer(_ key: String) throws(MessageError) -> Int? {
    guard let value = json[key] else { return nil }
    guard let number = value.integer else { throw failure(at: key, "expected an integer, found \(value.kindText)") }
    return Int(number)
  }
}

extension JSONValue {
  /// The kind of a value as part of a message.
  var kindText: String {
    switch kind {
    case .object: "an object"
    case .array: "an array"
    case .string: "a string"
    case .integer: "an integer"
    case .real: "a number"
    case .boolean: "true or false"
    case .null: "null"
    }
  }
}
