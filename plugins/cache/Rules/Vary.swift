package import SluiceMessages

// Which of the responses of one URL a request may be given (RFC 9111 §4.1).
extension StoredHead {
  /// `Vary: *`, anywhere in the list: nothing says what it depends on.
  package var variesOnEverything: Bool { varying.contains("*") }

  /// The names that `Vary` lists, in lower case and order, each once.
  package var varying: [String] {
    let names = headers[values: "vary"].flatMap { $0.lowercased().split(separator: ",") }
    return Set(names.map { String($0.trimmed) }.filter { !$0.isEmpty }).sorted()
  }
}

extension HeaderFields {
  /// The values of the selecting fields as one text that is equal for requests that may share a response: several lines as
  /// one, without the spaces around commas. nil where none of the fields is there.
  package func selection(_ names: [String]) -> String? {
    var text = ""
    var hasAny = false
    for name in names {
      let values = self[values: name]
      hasAny = hasAny || !values.isEmpty
      text += values.isEmpty ? "\(name)\n" : "\(name):\(normalized(values))\n"
    }
    return hasAny ? text : nil
  }

  private func normalized(_ values: [String]) -> String {
    values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map(\.trimmed).joined(separator: ",")
  }
}
