import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct B3SingleTests {
  private static let trace = "0123456789abcdef0011223344556677"
  private static let span = "8899aabbccddeeff"

  private static func read(_ text: String) -> Result<B3, InvalidContext> {
    Result { () throws(InvalidContext) in try B3(single: text.utf8.span) }
  }

  private static func remote(_ sampling: SamplingState, high: UInt64 = 0x0123_4567_89AB_CDEF) -> B3 {
    .trace(
      RemoteTrace(
        traceID: TraceID(high: high, low: 0x0011_2233_4455_6677), spanID: 0x8899_AABB_CCDD_EEFF, sampling: sampling))
  }

  @Test(
    arguments: [
      ("\(trace)-\(span)-1", remote(.accepted)), ("\(trace)-\(span)-0", remote(.denied)),
      ("\(trace)-\(span)-d", remote(.debug)), ("\(trace)-\(span)", remote(.deferred)),
      ("\(trace)-\(span)-1-1234567890abcdef", remote(.accepted)),
      ("0011223344556677-\(span)-1", remote(.accepted, high: 0)),
      ("0011223344556677-\(span)", remote(.deferred, high: 0)),
      ("0", .sampling(.denied)), ("1", .sampling(.accepted)), ("d", .sampling(.debug)),
    ] as [(String, B3)])
  func `ids, decision and parent are read, and an id of 64 bits is padded with zeros`(text: String, content: B3) {
    #expect(Self.read(text) == .success(content))
  }

  @Test(arguments: [
    ("", "the trace id"), ("2", "expected 0, 1 or d"), ("D", "expected 0, 1 or d"), ("-", "expected 0, 1 or d"),
    ("--", "the trace id"), (trace, "the span id"), ("\(trace)-", "the span id"), ("\(trace)-1", "the span id"),
    ("\(trace)-\(span)-", "the sampling state"), ("\(trace)-\(span)-2", "the sampling state"),
    ("\(trace)-\(span)1", "the sampling state"), ("\(trace)-\(span)x1", "the sampling state"),
    ("\(trace)-\(span)-1-", "parent id"), ("\(trace)-\(span)-1-12", "parent id"),
    ("\(trace)-\(span)-1-1234567890abcdeg", "parent id"), ("\(trace)-\(span)-11", "parent id"),
    ("\(trace)-\(span)-1-1234567890abcdef-", "parent id"),
    ("\(trace)0-\(span)-1", "the trace id is not"), ("0123456789abcdef0-\(span)-1", "the trace id is not"),
    ("0123456789ABCDEF0011223344556677-\(span)-1", "the trace id is not"),
    ("\(trace)-8899AABBCCDDEEFF-1", "the span id"),
    ("00000000000000000000000000000000-\(span)-1", "the trace id is zero"),
    ("0000000000000000-\(span)-1", "the trace id is zero"), ("\(trace)-0000000000000000-1", "the span id is zero"),
    ("g123456789abcdef0011223344556677-\(span)-1", "the trace id is not"),
    (" \(trace)-\(span)-1", "the trace id is not"),
    ("\(trace)-\(span)-é", "the sampling state"),
  ])
  func `an invalid value is refused with a reason`(text: String, reason: String) throws {
    let refusal = #expect(throws: InvalidContext.self) { try Self.read(text).get() }
    #expect(refusal?.header == "b3")
    #expect(refusal?.reason.contains(reason) == true, "\(refusal?.reason ?? "")")
  }

  @Test func `any bytes are read or refused, and no bytes cause a trap`() {
    var random = SeededRandom(seed: 13)
    let valid = Array("\(Self.trace)-\(Self.span)-1-1234567890abcdef".utf8)
    for _ in 0..<5000 {
      var bytes = valid.prefix(Int.random(in: 0...valid.count, using: &random)) + []
      for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard case .trace(let trace) = try? B3(single: bytes.span) else { continue }
      #expect(!trace.traceID.isZero && trace.spanID != 0)
    }
  }
}
