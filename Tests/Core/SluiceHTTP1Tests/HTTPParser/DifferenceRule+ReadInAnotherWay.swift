extension DifferenceRule {
  /// Rules for responses that neither parser refuses, but that the parsers read differently.
  static let readInAnotherWay: [DifferenceRule] = [
    DifferenceRule(
      name: "keeps the spaces after a value", section: "RFC 9112 §5.1: the spaces are not part of the value"
    ) {
      comparison in
      comparison.equalFields { Answer.trimmedAtEnd($0) }
    },
    DifferenceRule(
      name: "keeps the spaces of a folded line, and does not replace its line end with a space",
      section: "RFC 9112 §5.2"
    ) { comparison in
      guard comparison.hasNeighbours({ $0 == 0x0A && [0x20, 0x09].contains($1) }) else { return [] }
      return comparison.equalFields { Answer.withSingleSpaces($0) }
    },
    // The comparison is repeated after http-parser was told that there is no body. Other rules must explain the
    // differences that remain.
    DifferenceRule(
      name: bodyWithoutBody, section: "RFC 9112 §6.3: such responses have no body, whatever the fields say"
    ) {
      comparison in
      guard comparison.framesNoBody else { return [] }
      let corrected = Comparison(comparison.bytes, isAnswerToHead: comparison.isAnswerToHead, skipsBodies: true)
      let others = all.filter { $0.name != bodyWithoutBody }
      return corrected.explained(by: others).left.isEmpty ? comparison.differences : []
    },
    DifferenceRule(
      name: "treats a longer name that begins with Transfer-Encoding as that field",
      section: "RFC 9110 §5.1: a name is compared as a whole"
    ) { comparison in
      guard let head = comparison.ours.heads.last,
        head.fields.contains(where: { $0.lowercasedName.hasPrefix("transfer-encoding") && $0.name.count > 17 })
      else { return [] }
      if comparison.theirs.refusal == "HPE_UNEXPECTED_CONTENT_LENGTH" { return [.acceptance] }
      return comparison.readsUntilClose ? comparison.differences.subtracting([.heads, .fields]) : []
    },
    overlooks(
      "overlooks an element of a list if it is next to a tab", "RFC 9110 §5.6.1: optional whitespace is space or tab"
    ) {
      $0.contains("\t")
    },
    overlooks(
      "overlooks the elements after an empty element or after an element that does not begin like a token",
      "RFC 9110 §5.6.1.2: empty elements are ignored"
    ) { value in
      value.split(separator: ",", omittingEmptySubsequences: false)
        .contains { !$0.drop { $0 == " " }.utf8.first.isTokenCharacter }
    },
    overlooks("overlooks the elements after an element that is only the beginning of a known one", "RFC 9110 §5.6.1") {
      value in
      value.split(separator: ",").map { $0.drop { $0 == " " } }
        .contains { element in
          ["chunked", "close", "keep-alive", "upgrade"].contains { $0.hasPrefix(element) && $0 != element }
        }
    },
    DifferenceRule(name: "prefers keep-alive to close in HTTP/1.0", section: "RFC 9112 §9.3: close decides") {
      comparison in
      guard let head = comparison.finalHeads?.ours, head.isHTTP10, !comparison.ours.keepsConnection,
        head.elements("connection").contains("close")
      else { return [] }
      return [.connection]
    },
    DifferenceRule(
      name: "reuses a connection after a transfer coding in HTTP/1.0",
      section: "RFC 9112 §6.1: the client must close the connection"
    ) { comparison in
      guard let head = comparison.finalHeads?.ours, head.isHTTP10, !comparison.ours.keepsConnection,
        !head.values("transfer-encoding").isEmpty
      else { return [] }
      return [.connection]
    },
    DifferenceRule(
      name: "reads Proxy-Connection like Connection", section: "RFC 9110 §7.6.1, RFC 9112 appendix C.2.2"
    ) { comparison in
      guard let head = comparison.finalHeads?.ours else { return [] }
      let option = comparison.theirs.keepsConnection ? "keep-alive" : "close"
      return head.elements("proxy-connection").contains(option) ? [.connection] : []
    },
    DifferenceRule(
      name: "obeys trailers that decide about the connection", section: "RFC 9110 §6.5.1: trailers must not decide this"
    ) { comparison in
      let names = ["connection", "proxy-connection", "transfer-encoding"]
      return comparison.ours.trailers.contains { field in names.contains { field.lowercasedName.hasPrefix($0) } }
        ? [.connection] : []
    },
  ]
}

extension DifferenceRule {
  private static let bodyWithoutBody = "reads a body after a 1xx, 204 or 304 head"

  /// Makes a rule for values in which http-parser overlooks an element: `chunked` as the last coding, or an option of
  /// `Connection`.
  private static func overlooks(
    _ name: String, _ section: String, in isLikeThis: @escaping @Sendable (String) -> Bool
  ) -> DifferenceRule {
    DifferenceRule(name: name, section: section) { comparison in
      guard let head = comparison.finalHeads else { return [] }
      var explained: Set<Comparison.Aspect> = []
      if head.ours.elements("transfer-encoding").last == "chunked", comparison.readsUntilClose,
        head.theirs.values("transfer-encoding").contains(where: isLikeThis)
      {
        explained = [.acceptance, .body, .trailers, .end, .connection]
      }
      let option = head.ours.isHTTP10 ? "keep-alive" : "close"
      if head.ours.elements("connection").contains(option), comparison.ours.keepsConnection == head.ours.isHTTP10,
        head.theirs.values("connection").contains(where: isLikeThis)
      {
        explained.insert(.connection)
      }
      return explained
    }
  }
}

extension Comparison {
  /// Applies `change` to the values of both parsers, and returns which of `fields` and `trailers` are then equal.
  fileprivate func equalFields(_ change: ([UInt8]) -> [UInt8]) -> Set<Aspect> {
    func changed(_ fields: [Answer.Field]) -> [Answer.Field] {
      fields.map { Answer.Field(name: $0.name, value: change($0.value)) }
    }
    var equal: Set<Aspect> = []
    if theirs.heads.map({ changed($0.fields) }) == ours.heads.map({ changed($0.fields) }) { equal.insert(.fields) }
    if changed(theirs.trailers) == changed(ours.trailers) { equal.insert(.trailers) }
    return equal
  }

  /// Whether http-parser reads everything after the head as a body that ends with the connection.
  fileprivate var readsUntilClose: Bool { theirs.end == .connection && theirs.body.elementsEqual(rest) }
}

extension Answer {
  fileprivate static func trimmedAtEnd(_ value: [UInt8]) -> [UInt8] {
    Array(value.reversed().drop { [0x20, 0x09].contains($0) }.reversed())
  }

  /// Returns the value with one space in place of each run of spaces and tabs.
  fileprivate static func withSingleSpaces(_ value: [UInt8]) -> [UInt8] {
    Array(value.split { [0x20, 0x09].contains($0) }.joined(separator: [0x20]))
  }
}

extension UInt8? {
  fileprivate var isTokenCharacter: Bool {
    self.map { 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 || "!#$%&'*+-.^_`|~".utf8.contains($0) } ?? false
  }
}
