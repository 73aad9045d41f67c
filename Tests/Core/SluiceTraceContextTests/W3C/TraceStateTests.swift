import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct TraceStateTests {
  /// Returns the part of a tracestate that is passed on, or nil if it is discarded.
  private static func content(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    return TraceState.content(bytes.span).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  private static func members(_ count: Int) -> String { (0..<count).map { "k\($0)=v" }.joined(separator: ",") }

  @Test(arguments: [
    "a=1", "a=1,b=2", "a=1, b=2", "a=1 \t,\tb=2", "a=1,,b=2", "0a=1", "tenant@system=1", "a_-*/@z=1", "a= 1", "a=!\"#~",
    "a=1,a=2", members(32), String(repeating: "k", count: 256) + "=" + String(repeating: "v", count: 256),
  ])
  func `a valid state is passed on unchanged`(text: String) {
    #expect(Self.content(text) == text)
  }

  @Test(arguments: [(" a=1 ", "a=1"), ("\ta=1,b=2\t", "a=1,b=2"), (",a=1,", ",a=1,")])
  func `blanks at the ends of a tracestate are left out`(text: String, content: String) {
    #expect(Self.content(text) == content)
  }

  @Test(arguments: [
    "", " ", ",", " , ", "a", "a=", "=1", "a=1=2", "a =1", "A=1", "_a=1", "-a=1", "a b=1", "a=\u{1}", "a=é", "é=1",
    "a=1,b", "a=1,B=2", members(33), String(repeating: "k", count: 257) + "=v",
    "k=" + String(repeating: "v", count: 257), "a=\u{7F}", "a.b=1",
  ])
  func `an invalid member discards the whole tracestate`(text: String) {
    #expect(Self.content(text) == nil)
  }

  @Test func `any bytes are passed on or discarded, and no bytes cause a trap`() {
    var random = SeededRandom(seed: 3)
    let alphabet = Array("ab0_@=, \t\u{1}é".utf8)
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      guard let content = TraceState.content(bytes.span) else { continue }
      #expect(bytes[content].allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 < 0x7F })
      #expect(TraceState.content(Array(bytes[content]).span)?.count == content.count)
    }
  }
}
