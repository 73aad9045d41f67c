extension DifferenceRule {
  /// Rules for responses that only our parser refuses.
  static let refusedByUs: [DifferenceRule] = [
    weRefuse(
      "skips empty lines before a response", "RFC 9112 §2.2 allows it only for requests", ["the answer begins with"]
    ) { [0x0D, 0x0A].contains($0.rest.first) },
    weRefuse("checks only the H of HTTP", "RFC 9112 §2.3", ["the answer begins with"]) {
      $0.rest.first == UInt8(ascii: "H")
        && !$0.rest.dropFirst().prefix(4).elementsEqual("TTP/".utf8.prefix($0.rest.count - 1))
    },
    weRefuse(
      "accepts every major version", "RFC 9112 §2.3: the major version of these messages is 1",
      ["the answer begins with"]
    ) {
      $0.rest.starts(with: "HTTP/".utf8) && $0.rest.dropFirst(5).first != UInt8(ascii: "1")
    },
    weRefuse("skips spaces before the status", "RFC 9112 §4: a single space", ["a status line that is not"]) {
      $0.rest.dropFirst(8).starts(with: "  ".utf8)
    },
    weRefuse(
      "accepts a status without three digits, or with zeros before it", "RFC 9112 §4: three digits; RFC 9110 §15",
      ["a status line that is not"]
    ) {
      let digits = $0.rest.dropFirst(9).prefix { 0x30...0x39 ~= $0 }
      return digits.count != 3 || digits.first == 0x30
    },
    weRefuse("accepts a NUL in a reason", "RFC 9112 §4", ["a line with a NUL"]) {
      $0.rest.prefix { $0 != 0x0A }.contains(0)
    },
    weRefuse("accepts a NUL as the first byte of a value", "RFC 9110 §5.5", ["with a NUL"]) {
      $0.bytes.split(separator: 0x0A).contains { line in
        // Apart from spaces and tabs, the NUL comes first after the colon, or first in a line that continues an empty
        // value.
        [line, line.drop { $0 != UInt8(ascii: ":") }.dropFirst()]
          .contains { $0.first { ![0x20, 0x09].contains($0) } == 0 }
      }
    },
    weRefuse(
      "takes any byte after a CR as the LF", "RFC 9112 §2.2: a bare CR is invalid",
      ["with a CR that does not end it", "the size of a chunk without CRLF after it"]
    ) { $0.hasNeighbours { $0 == 0x0D && $1 != 0x0A } },
    weRefuse("accepts spaces in a name and before the colon", "RFC 9112 §5.1", ["without a valid name before a colon"])
    {
      $0.bytes.split(separator: 0x0A).contains { line in
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        return name.count < line.count && name.contains(0x20)
      }
    },
    weRefuse(
      "takes a space before the first field as a part of its name", "RFC 9112 §2.2", ["that begins with a space"]
    ) {
      $0.hasNeighbours { $0 == 0x0A && $1 == 0x20 }
    },
    weRefuse(
      "reads a folded field that decides about the message",
      "stricter than RFC 9112 §5.2, by which a client replaces the fold with a space", ["a folded"]
    ) {
      $0.hasNeighbours { $0 == 0x0A && [0x20, 0x09].contains($1) }
    },
    weRefuse(
      "accepts chunked twice, or before another coding", "RFC 9112 §6.1: chunked once, as the last coding",
      ["that names chunked twice", "after chunked"]
    ) {
      $0.text.contains("chunked")
    },
    weRefuse(
      "accepts a length beyond 63 bits", "RFC 9110 §8.6: no overflow",
      ["a Content-Length that is not a number of bytes"]
    ) {
      $0.hasDigits(atLeast: 19)
    },
    weRefuse("accepts an upgrade that nobody requested", "RFC 9110 §7.8", ["an upgrade that was not requested"]) {
      $0.theirs.heads.last?.status == 101
    },
    weRefuse(
      "skips everything from a space or semicolon after a chunk size up to the CR", "RFC 9112 §7.1.1",
      [
        "a chunk extension with a NUL", "the size of a chunk is not a hexadecimal number",
        "the size of a chunk without CRLF after it",
      ]
    ) { $0.hasNeighbours { UInt8.isHexadecimal($0) && [0x20, UInt8(ascii: ";")].contains($1) } },
    weRefuse(
      "takes any two bytes after the data of a chunk as CRLF", "RFC 9112 §7.1", ["a chunk with more data than its size"]
    ) { comparison in
      comparison.theirs.dataEnds.contains { end in
        let line = comparison.bytes[end...].prefix(2)
        return !line.elementsEqual([0x0D, 0x0A].prefix(line.count))
      }
    },
    weRefuse(
      "reads a byte above 0x7F in the size of a chunk as the digit 0", "RFC 9112 §7.1",
      ["a chunk without a size", "the size of a chunk is not a hexadecimal number"]
    ) {
      comparison in comparison.rest.contains { $0 > 0x7F }
    },
    weRefuse(
      "accepts a chunk size of more than 15 digits", "RFC 9112 §7.1: no overflow", ["has more than 15 digits"]
    ) { $0.hasDigits(atLeast: 16) },
  ]
}
