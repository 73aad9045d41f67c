public import SluiceMessages

/// Why a JSON value could not be read as a Swift type, and where in the value.
public struct JSONDecodingError: DescribedError, Hashable, Sendable {
  /// The path of keys and indices from the top, as in `servers[2].name`; empty if the error concerns the value itself.
  public var keyPath: String
  /// What was expected and what was found.
  public var message: String

  /// An error at a place in the value; an empty key path means the value itself.
  public init(keyPath: String, message: String) {
    self.keyPath = keyPath
    self.message = message
  }

  init(_ path: [any CodingKey], _ message: String) {
    self.init(keyPath: JSONDecodingError.spell(path), message: message)
  }

  /// `key "servers[2].name": message`, or only the message for the value itself.
  public var description: String {
    keyPath.isEmpty ? message : "key \(PlainText.quote(keyPath)): \(message)"
  }

  private static func spell(_ path: [any CodingKey]) -> String {
    path.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
  }
}

/// The place of an element in an array.
struct IndexKey: CodingKey {
  let index: Int
  init(_ index: Int) { self.index = index }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { index = intValue }
  var stringValue: String { String(index) }
  var intValue: Int? { index }
}
