import SluiceJSON
import SluiceMessages
import SluiceUpdateRules

/// Reads and checks the members of a document. A member that is missing, has another type or is out of range is an
/// error that names the member. Unknown members are ignored, because a later version can add some.
struct DocumentReader {
  private let object: JSONValue
  private let subject: String

  /// Parses a document. An object must not have the same name twice.
  init(_ bytes: [UInt8], _ subject: String) throws(UpdateError) {
    self.subject = subject
    do { object = try JSONValue(parsing: bytes, options: .rejectDuplicates) } catch {
      throw UpdateError(.malformed, subject, "it is not JSON: \(error.message)")
    }
    guard object.isObject else { throw malformed("it is not an object") }
  }

  private init(_ object: JSONValue, _ subject: String) {
    self.object = object
    self.subject = subject
  }

  func malformed(_ reason: String) -> UpdateError { UpdateError(.malformed, subject, reason) }

  private func missing(_ key: String, _ expected: String) -> UpdateError {
    malformed("expected \"\(key)\" with \(expected)")
  }

  func string(_ key: String) throws(UpdateError) -> String {
    guard let text = object[key]?.string else { throw missing(key, "a string") }
    return text
  }

  func isPresent(_ key: String) -> Bool { object[key].map { !$0.isNull } ?? false }

  func integer(_ key: String, _ range: ClosedRange<Int64>) throws(UpdateError) -> Int64 {
    guard let integer = object[key]?.integer, range.contains(integer) else {
      throw missing(key, "an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }

  func moment(_ key: String) throws(UpdateError) -> UpdateMoment {
    guard let text = object[key]?.string, let moment = UpdateMoment(text) else {
      throw missing(key, "a time such as \"2026-11-26T12:00:00Z\"")
    }
    return moment
  }

  func hash(_ key: String) throws(UpdateError) -> String {
    guard let text = object[key]?.string, KeyID(hex: text) != nil else {
      throw missing(key, "64 hex digits in lower case")
    }
    return text
  }

  func strings(_ key: String, limit: Int) throws(UpdateError) -> [String] {
    let expected = "a list of at most \(limit) strings"
    guard let list = object[key], list.isArray, list.count <= limit else { throw missing(key, expected) }
    let texts = list.elements.compactMap(\.string)
    guard texts.count == list.count else { throw missing(key, expected) }
    return texts
  }

  func objects(_ key: String, limit: Int) throws(UpdateError) -> [DocumentReader] {
    let expected = "a list of at most \(limit) objects"
    guard let list = object[key], list.isArray, list.count <= limit else { throw missing(key, expected) }
    var readers: [DocumentReader] = []
    for element in list.elements {
      guard element.isObject else { throw missing(key, expected) }
      readers.append(DocumentReader(element, subject))
    }
    return readers
  }

  func object(_ key: String) throws(UpdateError) -> DocumentReader {
    guard let reader = try optionalObject(key) else { throw missing(key, "an object") }
    return reader
  }

  func optionalObject(_ key: String) throws(UpdateError) -> DocumentReader? {
    guard let member = object[key], !member.isNull else { return nil }
    guard member.isObject else { throw missing(key, "an object") }
    return DocumentReader(member, subject)
  }

  /// Returns the members of an object in which the names of the members are data too.
  func members(_ key: String, limit: Int) throws(UpdateError) -> [(name: String, value: JSONValue)] {
    guard let member = object[key], member.isObject, member.count <= limit else {
      throw missing(key, "an object with at most \(limit) members")
    }
    return member.members.map { ($0.key, $0.value) }
  }

  /// Checks the member `format`, with which every payload begins. Later formats have other numbers.
  func checkFormat() throws(UpdateError) {
    guard let format = object["format"]?.integer else { throw missing("format", "the integer 1") }
    guard format == 1 else {
      throw UpdateError(
        .unsupported, subject, "its format is \(format), this version of Sluice reads format 1",
        advice: "install a newer version of Sluice")
    }
  }
}
