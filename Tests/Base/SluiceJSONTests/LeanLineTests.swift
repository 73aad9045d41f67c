import SluiceMessages
import SluiceTestKit
import Testing

@testable import SluiceJSON

/// Compares lines that are written and read directly with lines that go through a JSON document. Both must be equal.
struct LeanLineTests {
  // MARK: Results

  private func written(_ write: (inout JSONText) throws -> Void) rethrows -> [UInt8] {
    var json = JSONText(capacity: 0)
    try write(&json)
    return json.bytes
  }

  private func expectSame(_ response: Response, _ location: SourceLocation = #_sourceLocation) throws {
    let bytes = try written { try $0.append(response) }
    let expected = try ResponseDocument.make(response).serializedText()
    #expect(String(decoding: bytes, as: UTF8.self) == expected, sourceLocation: location)
  }

  @Test func `every character is written as jansson writes it, at any place in a text`() throws {
    for scalar in Array(0x01...0x17F) + [0x7FF, 0x800, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF] {
      let character = String(try #require(Unicode.Scalar(UInt32(scalar))))
      for before in [0, 1, 7, 8, 511, 512] {
        let text = String(repeating: "a", count: before) + character + "12345678"
        let bytes = written { $0.append(quoting: text) }
        #expect(try bytes == JSONValue(text).serialized(), "U+\(String(scalar, radix: 16)) after \(before)")
      }
    }
    #expect(written { $0.append(quoting: "a\0") } == Array(#""a\u0000""#.utf8))
  }

  @Test func `bodies and fields with any bytes are written in the same way with and without a document`() throws {
    var headers = HeaderFields()
    try expectSame(Response(status: 200))
    for (name, value) in [
      ("Content-Type", "text/plain"), ("x-A", "1"), ("X-a", "\"2\"\\"), ("x-b", ""), ("X-A", "3"), ("x b", "no token"),
    ] {
      headers.append(Array(name.utf8).span, Array(value.utf8).span)
    }
    headers.append(Array("x-latin".utf8).span, [0xE9, 0x22].span)
    headers.append(Array("x-latin".utf8).span, Array("é".utf8).span)
    for body in [
      .empty, .bytes([]), .bytes(Array("{\n\t\"a\": \"ä\"\u{1}}".utf8)), .bytes([0x61, 0, 0x62]),
      .bytes([0xFF, 0xC0, 0x80]),
      .bytes([0xED, 0xA0, 0x80]), .bytes([0xE2, 0x82]), .file(FileBody(path: "/tmp/\"a", byteCount: 7)),
    ] as [Body] {
      try expectSame(Response(status: 404, headers: headers, body: body))
      try expectSame(Response(status: 999, headers: HeaderFields(), body: body, trailers: headers))
    }
    var many = headers
    for number in 0..<100 { many.append(Array("n\(number % 70)".utf8).span, Array("\(number)".utf8).span) }
    try expectSame(Response(status: 200, headers: many))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `random bytes are written in the same way with and without a document`(
    _ seed: UInt64
  )
    throws
  {
    var random = SeededRandom(seed: seed)
    for _ in 0..<200 {
      let alphabets: [ClosedRange<UInt8>] = [0...255, 0x20...0x7E, 0...0x7F, 0x80...0xBF]
      let alphabet = try #require(alphabets.randomElement(using: &random))
      let body = (0..<Int.random(in: 0...1100, using: &random)).map { _ in UInt8.random(in: alphabet, using: &random) }
      try expectSame(Response(status: 200, body: .bytes(body)))
    }
  }

  @Test(arguments: [
    0, 1, 499, 500, 999, 1_000, 1_500, 1_930_400, 9_999_500, 10_000_000, 100_000_000, 123_456_789, 3_600_000_000_000,
  ])
  func `a duration is written as the number of its rounded milliseconds`(_ nanoseconds: Int64) {
    for duration in [
      .nanoseconds(nanoseconds), .nanoseconds(nanoseconds) + Duration(secondsComponent: 0, attosecondsComponent: 1),
    ] {
      let bytes = written { $0.append(milliseconds: duration) }
      #expect(String(decoding: bytes, as: UTF8.self) == "\(duration.roundedMilliseconds)")
    }
  }

  @Test func `a transaction's id is written as a UUID in quotes`() {
    for (high, low) in [(0, 0), (.max, .max), (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)] as [(UInt64, UInt64)] {
      let id = TransactionID(high: high, low: low)
      #expect(String(decoding: written { $0.append(quoting: id) }, as: UTF8.self) == "\"\(id.description)\"")
    }
  }

  /// Removed bytes remain in memory. They must not appear in what is written later.
  @Test func `removed bytes do not reappear, and bytes written later are complete`() {
    var json = JSONText(capacity: 0)
    json.append(quoting: String(repeating: "a", count: 5000))
    json.truncate(to: 3)
    json.append(7)
    #expect(json.bytes == Array("\"aa7".utf8))
    json.removeAll(keepingCapacity: 100)
    #expect(json.count == 0)
    json.append(quoting: String(repeating: "b", count: 500))
    #expect(json.withBytes { String(decoding: $0, as: UTF8.self) } == "\"\(String(repeating: "b", count: 500))\"")
  }

  @Test func `integers are written with all digits`() {
    for number in [0, 9, 10, 200, -1, .max, .min] {
      let bytes = written { $0.append(number) }
      #expect(String(decoding: bytes, as: UTF8.self) == "\(number)")
    }
  }

  // MARK: Requests

  private static let plain = [
    #"{"url":"http://h/"}"#,
    #" { "id" : "a b" , "url" : "https://h:1/p?q#f" } "#,
    #"{"id":0,"url":"http://h/","method":"POST","timeout":"1.5s"}"#,
    #"{"url":"http://h/","id":123456789012345678,"headers":{"X-A":"1","x-a":"2","host":"o"},"body":{"text":"x y"}}"#,
    #"{"url":"http://u:p@h/","headers":{"accept":""},"body":{"text":""}}"#,
  ]

  /// Valid lines with features that plain lines do not have.
  private static let others = [
    #"{"url":"http://h/","id":null}"#, #"{"url":"http://h/","id":1.5}"#, #"{"url":"http://h/","id":-0}"#,
    #"{"url":"http://h/","id":"\u0041"}"#, #"{"url":"/relative"}"#, #"{"url":"HTTP://h/"}"#, #"{"url":"http://ä/"}"#,
    #"{"url":"http://h/","body":{"json":{"a":1}}}"#, #"{"url":"http://h/","body":{"base64":"YQ=="}}"#,
    #"{"url":"http://h/","body":{"text":"a\n"}}"#, #"{"url":"http://h/","headers":{"a":["1","2"]}}"#,
    #"{"url":"http://h/","headers":{}}"#, #"{"url":"http://h/","body":{"text":"a"},"trailers":{"a":"1"}}"#,
  ]

  private static let invalid = [
    #"{"url":"http://h/","url":"http://h/"}"#, #"{"url":"http://h/","id":1,"id":1}"#, #"{"url":"http://h/"} x"#,
    #"{"url":"http://h/",}"#, #"{"url":"http://h/","x":"y"}"#, #"{"id":1}"#, #"{"url":"http://h/","id":01}"#,
    #"{"url":"http://h/","method":"G T"}"#, #"{"url":"http://h/","method":"CONNECT"}"#, #"{"url":"http://h h/"}"#,
    #"{"url":"http://h/","timeout":"0s"}"#, #"{"url":"http://h/","timeout":"soon"}"#, #"{"url":"http://h/","id":{}}"#,
    #"{"url":"http://h/","headers":{"a b":"c"}}"#, #"{"url":"http://h/","headers":{"a":"1","a":"2"}}"#,
    #"{"url":"http://h/","headers":{"host":"a","Host":"b"}}"#, #"{"url":"http://h/","body":{"text":"a","text":"b"}}"#,
    #"{"url":"http://h/","body":{}}"#, #"{"url":"http://h/""#, #"{"url":"http://h/}"#, "{}", "", "[]",
    #"{"url":"http://h/","headers":{"a":"1"},"headers":{"b":"1"}}"#,
  ]

  private func plainLine(_ text: [UInt8]) -> PlainRequestLine? { text.withUnsafeBytes { PlainRequestLine($0) } }

  private func fullLine(_ text: [UInt8]) throws(MessageError) -> RequestLine {
    let result = text.withUnsafeBytes { bytes in
      Result { () throws(MessageError) in try RequestLine(parsing: bytes) }
    }
    return try result.get()
  }

  private func isSame(_ plain: PlainRequestLine, _ full: RequestLine) -> Bool {
    isSame(plain.request, full.request) && plain.id == full.id.map { ResultID($0) }
  }

  private func isSame(_ left: PlainRequestLine, _ right: PlainRequestLine) -> Bool {
    isSame(left.request, right.request) && left.id == right.id
  }

  private func isSame(_ left: Request, _ right: Request) -> Bool {
    func lines(_ headers: HeaderFields) -> [String] {
      headers.indices.map { index in
        String(
          decoding: headers.buffer[headers.nameRange(at: index)] + headers.buffer[headers.valueRange(at: index)],
          as: UTF8.self)
      }
    }
    func bytes(_ body: Body) -> [UInt8]? { if case .bytes(let bytes) = body { bytes } else { nil } }
    return left.method == right.method && left.url == right.url && left.timeout == right.timeout
      && lines(left.headers) == lines(right.headers) && bytes(left.body) == bytes(right.body)
  }

  @Test(arguments: plain)
  func `a plain line is read in one pass, with the same result as through a document`(_ line: String) throws {
    let plain = try #require(plainLine(Array(line.utf8)))
    #expect(isSame(plain, try fullLine(Array(line.utf8))))
  }

  @Test(arguments: others)
  func `if another valid line is read in one pass, the result is the same as through a document`(_ line: String) {
    if let plain = plainLine(Array(line.utf8)) {
      #expect((try? fullLine(Array(line.utf8))).map { isSame(plain, $0) } == true)
    }
  }

  @Test(arguments: invalid) func `an invalid line is never read in one pass`(_ line: String) {
    #expect(plainLine(Array(line.utf8)) == nil)
    #expect(throws: MessageError.self) { try fullLine(Array(line.utf8)) }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `if a randomly changed line is read in one pass, the result is the same as through a document`(
    _ seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let lines = [Self.plain, Self.others + Self.invalid].map { $0.map { Array($0.utf8) } }
    let pieces = #"{}[]:,"\ \u{9}09-.ea"#.utf8 + [0, 0x1F, 0x7F, 0x80, 0xC3]
    var readCount = 0
    let sibling = HTTPURL("http://h/")
    for number in 0..<6_000 {
      var line = try #require(lines[number % 2].randomElement(using: &random))
      for _ in 0..<(number % 4 == 0 ? 1 : Int.random(in: 1...3, using: &random)) where !line.isEmpty {
        let place = Int.random(in: 0..<line.count, using: &random)
        let piece = try #require((Bool.random(using: &random) ? Array(pieces) : line).randomElement(using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0: line[place] = piece
        case 1: line.remove(at: place)
        default: line.insert(piece, at: place)
        }
      }
      guard let plain = plainLine(line) else { continue }
      readCount += 1
      let near = line.withUnsafeBytes { PlainRequestLine($0, sibling: sibling) }
      #expect(near.map { isSame($0, plain) } == true, "\(String(decoding: line, as: UTF8.self))")
      let full = try? fullLine(line)
      #expect(full.map { isSame(plain, $0) } == true, "\(String(decoding: line, as: UTF8.self))")
    }
    #expect(readCount > 50, "too few lines were read in one pass for a meaningful comparison")
  }
}
