package import SluiceMessages

// Decides which of the responses for one URL match a request (RFC 9111 §4.1).
extension StoredHead {
  /// Whether `Vary` contains `*`, so that it is unknown what the response depends on.
  package var variesOnEverything: Bool { varying.contains("*") }

  /// The names that `Vary` lists, in lower case, sorted, without duplicates.
  package var varying: [String] {
    let names = headers[values: "vary"].flatMap { $0.lowercased().split(separator: ",") }
    return Set(names.map { String($0.trimmed) }.filter { !$0.isEmpty }).sorted()
  }
}

extension HeaderFields {
  /// The values of the selecting fields as one text that is equal for requests that may share a response: several lines
  /// are joined, without spaces around commas. Nil if the request has none of the fields.
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
