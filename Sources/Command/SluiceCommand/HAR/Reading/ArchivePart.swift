import SluiceJSON
import SluiceMessages

/// A value in an archive, with the path that errors name: `log.entries[3].request.url`.
struct ArchivePart {
  let json: JSONValue
  let path: String

  /// A member; nil if it is absent or null. Some programs write null for a member that has no value.
  subscript(name: String) -> ArchivePart? {
    guard let member = json[name], !member.isNull else { return nil }
    return ArchivePart(json: member, path: "\(path).\(name)")
  }

  func failure(_ reason: String) -> ArchiveMistake { ArchiveMistake(message: "\(path): \(reason)") }

  func object(_ name: String) throws(ArchiveMistake) -> ArchivePart {
    guard let member = self[name], member.json.isObject else { throw unexpected(name, "an object") }
    return member
  }

  func string(_ name: String) throws(ArchiveMistake) -> String {
    guard let text = try optionalString(name) else { throw unexpected(name, "a string") }
    return text
  }

  func optionalString(_ name: String) throws(ArchiveMistake) -> String? {
    guard let member = self[name] else { return nil }
    guard let text = member.json.string else { throw unexpected(name, "a string") }
    return text
  }

  /// The elements of a list; empty if the list is absent.
  func list(_ name: String) throws(ArchiveMistake) -> [ArchivePart] {
    guard let list = self[name] else { return [] }
    guard list.json.isArray else { throw unexpected(name, "an array") }
    return list.json.elements.enumerated().map { ArchivePart(json: $1, path: "\(list.path)[\($0)]") }
  }

  /// The pairs of name and value in a list. An absent value counts as empty.
  func pairs(_ name: String) throws(ArchiveMistake) -> [(part: ArchivePart, pair: NamedValue)] {
    var pairs: [(ArchivePart, NamedValue)] = []
    for part in try list(name) {
      pairs.append((part, NamedValue(try part.string("name"), try part.optionalString("value") ?? "")))
    }
    return pairs
  }

  private func unexpected(_ name: String, _ expected: String) -> ArchiveMistake {
    ArchiveMistake(message: "\(path).\(name): expected \(expected), found \(json[name]?.kind.rawValue ?? "nothing")")
  }
}

/// Why an entry of an archive is not a request; the message names the place.
struct ArchiveMistake: Error {
  let message: String
}
