import SluiceMessages
import Testing

@testable import SluiceTraceContext

/// The W3C Trace Context test suite (github.com/w3c/trace-context, test/test.py, strict, level 2), rewritten. Each of
/// its 41 cases, which test a service that relays a trace, has a check here.
@Suite struct TraceContextSuiteTests {
  private static let traceID = "5bd66ef5095369c7b0d1f8f4bd33716a"
  private static let parent = "00-\(traceID)-c532cb4098ac3dd2-01"

  /// What the next service receives.
  enum Outcome: Sendable, Equatable {
    case restarted
    case continued(state: String? = nil)
  }

  private static func outcome(_ lines: Lines) throws -> Outcome {
    let sent = Propagators.standard.relay(lines)
    #expect(sent[values: "traceparent"].count == 1)
    let text = try #require(sent["traceparent"])
    let received = try TraceParent(text.utf8.span)
    #expect(received.spanID == newSpanID)
    if text.contains(traceID) { return .continued(state: sent["tracestate"]) }
    #expect(received.traceID == .new)
    #expect(sent["tracestate"] == nil)
    return .restarted
  }

  private static func version(_ version: String, _ rest: String = "") -> Lines {
    ["traceparent": "\(version)\(parent.dropFirst(2))\(rest)"]
  }

  private static let parents: [(String, Lines, Outcome)] = [
    ("neither header", [:], .restarted),
    ("a parent alone", ["traceparent": parent], .continued()),
    ("two parents", ["traceparent": parent, "traceparent": "00-\(traceID)-c532cb4098ac3dd3-01"], .restarted),
    ("the same parent twice", ["traceparent": parent, "traceparent": parent], .restarted),
    ("a name with a hyphen", ["trace-parent": parent], .restarted),
    ("a name with a dot", ["trace.parent": parent], .restarted),
    ("a name in capitals", ["TRACEPARENT": parent], .continued()),
    ("a name in some capitals", ["TraceParent": parent], .continued()),
    ("a name in other capitals", ["TrAcEpArEnT": parent], .continued()),
    ("version 00 with a dot after it", version("00", "."), .restarted),
    ("version 00 with a field after it", version("00", "-more"), .restarted),
    ("version cc", version("cc"), .continued()),
    ("version cc with a field after it", version("cc", "-more"), .continued()),
    ("version cc with a dot after it", version("cc", ".more"), .restarted),
    ("version ff", version("ff"), .restarted),
    ("a dot in front in the version", version(".0"), .restarted),
    ("a dot at the end of the version", version("0."), .restarted),
    ("a version of three digits", version("000"), .restarted),
    ("a version of four digits", version("0000"), .restarted),
    ("a version of one digit", version("0"), .restarted),
    ("a trace id of zeros", ids("00000000000000000000000000000000"), .restarted),
    ("a dot in front in the trace id", ids(".bd66ef5095369c7b0d1f8f4bd33716a"), .restarted),
    ("a dot at the end of the trace id", ids("5bd66ef5095369c7b0d1f8f4bd33716."), .restarted),
    ("a trace id of 33 digits", ids(traceID + "0"), .restarted),
    ("a trace id of 31 digits", ids(String(traceID.dropLast())), .restarted),
    ("a parent id of zeros", ids(traceID, "0000000000000000"), .restarted),
    ("a dot in front in the parent id", ids(traceID, ".532cb4098ac3dd2"), .restarted),
    ("a dot at the end of the parent id", ids(traceID, "c532cb4098ac3dd."), .restarted),
    ("a parent id of 17 digits", ids(traceID, "c532cb4098ac3dd20"), .restarted),
    ("a parent id of 15 digits", ids(traceID, "c532cb4098ac3dd"), .restarted),
    ("a dot in front in the flags", ids(traceID, flags: ".0"), .restarted),
    ("a dot at the end of the flags", ids(traceID, flags: "0."), .restarted),
    ("flags of three digits", ids(traceID, flags: "001"), .restarted),
    ("flags of one digit", ids(traceID, flags: "1"), .restarted),
    ("a space in front", ["traceparent": " " + parent], .continued()),
    ("a tab in front", ["traceparent": "\t" + parent], .continued()),
    ("a space at the end", ["traceparent": parent + " "], .continued()),
    ("a tab at the end", ["traceparent": parent + "\t"], .continued()),
    ("blanks at both ends", ["traceparent": "\t \(parent) \t"], .continued()),
    ("a state without a parent", ["tracestate": "north=1"], .restarted),
    ("a state of two members, without a parent", ["tracestate": "north=1,south=2"], .restarted),
  ]

  private static func ids(_ trace: String, _ span: String = "c532cb4098ac3dd2", flags: String = "01") -> Lines {
    ["traceparent": "00-\(trace)-\(span)-\(flags)"]
  }

  @Test(arguments: parents)
  func `a trace continues only if its parent is valid`(fact: String, lines: Lines, outcome: Outcome)
    throws
  {
    #expect(try Self.outcome(lines) == outcome, "\(fact)")
  }

  private static let key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/"
  private static let value = String(
    decoding: (0x20...0x7E).filter { $0 != 0x2C && $0 != 0x3D }.map { UInt8($0) }, as: UTF8.self)
  private static func members(_ range: ClosedRange<Int>) -> String {
    range.map { "m\($0)=\($0)" }.joined(separator: ",")
  }

  private static let states: [(String, [String], String?)] = [
    ("two members", ["north=1,south=2"], "north=1,south=2"),
    ("an empty line", [""], nil),
    ("an empty line at the end", ["north=1", ""], "north=1"),
    ("an empty line in front", ["", "north=1"], "north=1"),
    (
      "three lines", ["north=1,south=2", "east=1,west=2", "up=3"],
      "north=1,south=2,east=1,west=2,up=3"
    ),
    ("a repeated member", ["north=1,north=1"], "north=1,north=1"),
    ("a key with two values", ["north=1,north=2"], "north=1,north=2"),
    ("a repeated member in two lines", ["north=1", "north=1"], "north=1,north=1"),
    ("a key with two values in two lines", ["north=1", "north=2"], "north=1,north=2"),
    ("every character of a key and of a value", ["\(key)=\(value)"], "\(key)=\(value)"),
    ("every character of a key with a tenant", ["\(key)@\(key)=\(value)"], "\(key)@\(key)=\(value)"),
    ("blanks around commas", ["north=1 \t , \t south=2, \t east=3"], "north=1 \t , \t south=2, \t east=3"),
    ("tabs around commas", ["north=1\t \t,\t \tsouth=2,\t \teast=3"], "north=1\t \t,\t \tsouth=2,\t \teast=3"),
    ("a space in front", [" north=1"], "north=1"), ("a tab in front", ["\tnorth=1"], "north=1"),
    ("a space at the end", ["north=1 "], "north=1"), ("a tab at the end", ["north=1\t"], "north=1"),
    ("blanks at both ends", ["\t north=1 \t"], "north=1"),
    ("a blank in a key", ["north =1"], nil), ("a key in capitals", ["NORTH=1"], nil),
    ("a dot in a key", ["no.rth=1"], nil),
    ("an at sign at the end of a key", ["north@=1,south=2"], "north@=1,south=2"),
    ("an at sign in front of a key", ["@north=1,south=2"], nil),
    ("two at signs in a row", ["north@@pole=1,south=2"], "north@@pole=1,south=2"),
    ("two at signs", ["a@b@c=1,south=2"], "a@b@c=1,south=2"),
    (
      "32 members in four lines", [members(1...10), members(11...20), members(21...30), members(31...32)],
      members(1...32)
    ),
    ("33 members in four lines", [members(1...10), members(11...20), members(21...30), members(31...33)], nil),
    ("a key of 256 characters", ["north=1", key(256) + "=1"], "north=1," + key(256) + "=1"),
    ("a key of 257 characters", ["north=1", key(257) + "=1"], nil),
    (
      "a tenant of 241 characters", ["north=1", key(241) + "@" + key(14) + "=1"],
      "north=1," + key(241) + "@" + key(14) + "=1"
    ),
    ("a tenant of 242 characters", ["north=1", key(242) + "@v=1"], "north=1," + key(242) + "@v=1"),
    ("a system of 15 characters", ["north=1", "t@" + key(15) + "=1"], "north=1,t@" + key(15) + "=1"),
    ("an equals sign in a value", ["north=a=b"], nil), ("an empty value", ["north=,south=3"], nil),
  ]

  private static func key(_ count: Int) -> String { String(repeating: "k", count: count) }

  @Test(arguments: states, ["tracestate", "TraceState", "TrAcEsTaTe", "TRACESTATE"])
  func `a valid tracestate is passed on in order, and an invalid one is dropped while the trace continues`(
    _ given: (fact: String, lines: [String], state: String?), name: String
  ) throws {
    var fields: HeaderFields = ["traceparent": Self.parent]
    for line in given.lines { fields.append(name, line) }
    let parent = Propagators.standard.extract(from: fields).parent
    let sent = Propagators.standard.inject(HopTrace(parent, newTraceID: .new, spanID: newSpanID))
    #expect(sent["traceparent"]?.contains(Self.traceID) == true)
    #expect(sent["tracestate"] == given.state, "\(given.fact)")
  }

  @Test(arguments: ["trace-state", "trace.state"])
  func `a tracestate under another header name is ignored`(name: String) throws {
    var fields: HeaderFields = ["traceparent": Self.parent]
    fields.append(name, "north=1")
    #expect(Propagators.standard.extract(from: fields).trace?.state == nil)
  }

  @Test(
    arguments: [
      ("a valid parent", ["traceparent": parent], true), ("no parent", [:], false),
      ("an invalid parent", ids("00000000000000000000000000000000"), false),
    ] as [(String, Lines, Bool)])
  func `three requests with the same parent have one trace and different spans`(
    fact: String, lines: Lines, isContinued: Bool
  ) {
    let parent = Propagators.standard.extract(lines).parent
    let hops = (1...3).compactMap { HopTrace(parent, newTraceID: .new, spanID: $0).traceParent }
    #expect(Set(hops.map(\.spanID)) == [1, 2, 3])
    #expect(Set(hops.map(\.traceID)).count == 1)
    #expect((hops.first?.traceID != .new) == isContinued, "\(fact)")
  }

  @Test(arguments: [("02", "02"), ("03", "03"), ("00", "00"), ("ff", "03"), ("fc", "00")])
  func `level 2: the random flag is passed on, and flags without a meaning are not`(given: String, sent: String) {
    let headers = Propagators.standard.relay(Self.ids(Self.traceID, flags: given))
    #expect(headers["traceparent"]?.hasSuffix("-\(sent)") == true)
  }
}
