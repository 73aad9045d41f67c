/// Features of the compared bytes, which rules use as conditions.
extension Comparison {
  /// The bytes that begin with the head that our parser has not read completely. If the final head was read, the bytes
  /// that begin with the body.
  var rest: ArraySlice<UInt8> { bytes[ours.position...] }

  /// All bytes as text in lower case.
  var text: String { Answer.text(of: bytes).lowercased() }

  /// Returns whether the condition holds for any two neighbouring bytes.
  func hasNeighbours(_ areLikeThis: (UInt8, UInt8) -> Bool) -> Bool {
    zip(bytes, bytes.dropFirst()).contains(where: areLikeThis)
  }

  /// Returns whether there is a run of at least `count` hexadecimal digits.
  func hasDigits(atLeast count: Int) -> Bool {
    bytes.split { !UInt8.isHexadecimal($0) }.contains { $0.count >= count }
  }

  /// The byte at which http-parser refused.
  var refusedByte: UInt8? { bytes.indices.contains(theirs.position) ? bytes[theirs.position] : nil }

  /// The final head, if both parsers have read it.
  var finalHeads: (ours: Answer.Head, theirs: Answer.Head)? {
    guard let ours = ours.heads.last, let theirs = theirs.heads.last, ours.status >= 200, theirs.status == ours.status
    else { return nil }
    return (ours, theirs)
  }

  /// The same bytes, followed by the end of a line and by an empty line, which ends the head.
  var ended: Comparison { Comparison(bytes + Array("\r\n\r\n".utf8), isAnswerToHead: isAnswerToHead) }

  /// Whether a response without a body has fields that frame a body, or that http-parser mistakes for such fields.
  var framesNoBody: Bool {
    ours.heads.contains { head in
      (isAnswerToHead || head.status < 200 || head.status == 204 || head.status == 304)
        && head.fields.contains {
          $0.lowercasedName == "content-length" || $0.lowercasedName.hasPrefix("transfer-encoding")
        }
    }
  }
}

extension UInt8 {
  static func isHexadecimal(_ byte: UInt8) -> Bool {
    0x30...0x39 ~= byte || 0x41...0x46 ~= byte || 0x61...0x66 ~= byte
  }
}

extension Answer.Head {
  /// Returns the values of the fields with this name, in lower case.
  func values(_ name: String) -> [String] {
    fields.filter { $0.lowercasedName == name }.map { Answer.text(of: $0.value).lowercased() }
  }

  /// Returns the list elements in the fields with this name (RFC 9110 §5.6.1).
  func elements(_ name: String) -> [String] {
    values(name).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
      .map { String($0.drop { " \t".contains($0) }.reversed().drop { " \t".contains($0) }.reversed()) }
  }
}
