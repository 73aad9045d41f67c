import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct TraceParentTests {
  private static func parsed(_ text: String) -> TraceParent? { try? TraceParent(text.utf8.span) }

  private static func text(_ parent: TraceParent) -> String {
    parent.description
  }

  private static let valid = "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01"

  @Test func `ids and flags are read from a traceparent`() throws {
    let parent = try #require(Self.parsed(Self.valid))
    #expect(parent.traceID == TraceID(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233_4455_6677))
    #expect(parent.spanID == 0x8899_AABB_CCDD_EEFF)
    #expect(parent.flags == .sampled)
  }

  @Test(arguments: [
    ("an empty value", ""),
    ("a version alone", "00"),
    ("one character too few", "00-0123456789abcdef0011223344556677-8899aabbccddeeff-0"),
    ("one character too many in version 00", "00-0123456789abcdef0011223344556677-8899aabbccddeeff-011"),
    ("a further field in version 00", "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01-x"),
    ("two headers joined", valid + "," + valid),
    ("version ff", "ff-0123456789abcdef0011223344556677-8899aabbccddeeff-01"),
    ("a version that is not hexadecimal", ".0-0123456789abcdef0011223344556677-8899aabbccddeeff-01"),
    ("a version in upper case", "0A-0123456789abcdef0011223344556677-8899aabbccddeeff-01"),
    ("a trace id in upper case", "00-0123456789ABCDEF0011223344556677-8899aabbccddeeff-01"),
    ("a span id in upper case", "00-0123456789abcdef0011223344556677-8899AABBCCDDEEFF-01"),
    ("flags in upper case", "00-0123456789abcdef0011223344556677-8899aabbccddeeff-0B"),
    ("a trace id of zeros", "00-00000000000000000000000000000000-8899aabbccddeeff-01"),
    ("a span id of zeros", "00-0123456789abcdef0011223344556677-0000000000000000-01"),
    ("a letter beyond f", "00-0123456789abcdeg0011223344556677-8899aabbccddeeff-01"),
    ("underscores for hyphens", "00_0123456789abcdef0011223344556677_8899aabbccddeeff_01"),
    ("a blank in front", " 00-0123456789abcdef0011223344556677-8899aabbccddeeff-01"),
    ("a higher version without the hyphen", "01-0123456789abcdef0011223344556677-8899aabbccddeeff-01x"),
    ("a higher version that is too short", "01-0123456789abcdef0011223344556677-8899aabbccddeeff"),
    ("bytes that are not ASCII", "00-0123456789abcdef00112233445566é-8899aabbccddeeff-01"),
  ])
  func `an invalid value is refused`(what: String, text: String) {
    #expect(Self.parsed(text) == nil, "\(what)")
  }

  @Test(arguments: ["01", "cc", "fe"], ["", "-", "-what-the-future-brings", "-\u{0}"])
  func `if the version is higher, the fields of version 00 are read`(version: String, rest: String) throws {
    let parent = try #require(Self.parsed(version + Self.valid.dropFirst(2) + rest))
    #expect(Self.text(parent) == Self.valid)
  }

  @Test func `flags that have no meaning are not passed on`() throws {
    let parent = try #require(Self.parsed(Self.valid.dropLast(2) + "ff"))
    #expect(Self.text(parent).hasSuffix("-03"))
  }

  @Test func `a written traceparent is read back unchanged`() {
    var random = SeededRandom(seed: 7)
    for _ in 0..<2000 {
      let parent = TraceParent(
        traceID: TraceID(high: random.next(), low: random.next() | 1), spanID: random.next() | 1,
        flags: TraceParent.Flags(rawValue: UInt8.random(in: 0...3, using: &random)))
      #expect(Self.parsed(Self.text(parent)) == parent)
    }
  }

  @Test func `a value with one changed byte is read as a valid parent or refused, and never traps`() throws {
    var random = SeededRandom(seed: 11)
    for _ in 0..<5000 {
      var bytes = Array(Self.valid.utf8)
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
      guard let parent = try? TraceParent(bytes.span) else { continue }
      #expect(Self.parsed(Self.text(parent)) == parent)
    }
  }
}
