import SluiceMessages
import Testing

@testable import SluiceAttachRules

/// How lines of CURLOPT_HTTPHEADER become fields for stages, and which lines libcurl gets after a change.
@Suite struct HeaderLinesTests {
  private static func lines(_ lines: [String], made: [String] = []) -> HeaderLines {
    var all = HeaderLines()
    for line in lines { all.append(line: line.utf8.span) }
    for line in made { all.append(made: line.utf8.span) }
    return all
  }

  /// Returns the lines for the fields after the change.
  private static func changed(_ lines: HeaderLines, _ change: (inout HeaderFields) -> Void) -> [String]? {
    var fields = lines.fields
    change(&fields)
    return lines.lines(for: fields)?.texts
  }

  @Test func `fields are read from lines, without the blanks around a value`() {
    let lines = Self.lines(["A: 1", "B:2", "c: \t3 \r\n", "D;"])
    #expect(lines.fields == ["A": "1", "B": "2", "c": "3", "D": ""])
  }

  @Test(arguments: ["Accept:", "Accept: ", "no colon", "bad name: 1", ": 1", "A: \u{1}", "", ";", "two words;"])
  func `a line that is not a field is not shown to stages, and stays unchanged`(line: String) {
    let lines = Self.lines(["A: 1", line])
    #expect(lines.fields == ["A": "1"])
    #expect(Self.changed(lines) { $0.append("B", "2") } == ["A: 1", line, "B: 2"])
  }

  @Test func `lines that need no change are not replaced`() {
    let lines = Self.lines(["A:1", "Accept:", "odd"], made: ["User-Agent: x"])
    #expect(Self.changed(lines) { _ in } == nil)
    #expect(lines.own.texts == ["A:1", "Accept:", "odd"])
  }

  @Test func `a line that a stage does not change keeps its bytes, and an added line comes last`() {
    let lines = Self.lines(["a:  1 ", "B:2", "C;"])
    #expect(Self.changed(lines) { $0.append("X-New", "3") } == ["a:  1 ", "B:2", "C;", "X-New: 3"])
  }

  @Test func `an added line comes before a line with a line break, which ends the head`() {
    let lines = Self.lines(["A: 1", "B: 2\r\n", "C: 3"])
    #expect(Self.changed(lines) { $0.append("X-New", "4") } == ["A: 1", "X-New: 4", "B: 2\r\n", "C: 3"])
  }

  @Test func `libcurl does not send its own value of a field that a stage removes`() {
    let lines = Self.lines(["Accept: text/plain", "B: 2"])
    #expect(Self.changed(lines) { $0["accept"] = nil } == ["B: 2", "Accept:"])
  }

  @Test func `a field that a stage sets moves to the end`() {
    let lines = Self.lines(["A: 1", "B: 2"])
    #expect(Self.changed(lines) { $0["A"] = "3" } == ["B: 2", "A: 3"])
    #expect(Self.changed(lines) { $0["b"] = "" } == ["A: 1", "b;"])
  }

  @Test func `if a name is repeated, the values decide which lines stay`() {
    let lines = Self.lines(["X: 1", "x: 2", "X: 2"])
    #expect(Self.changed(lines) { $0 = ["X": "2"] } == ["x: 2"])
    #expect(Self.changed(lines) { $0.append("X", "1") } == ["X: 1", "x: 2", "X: 2", "X: 1"])
  }

  @Test func `a stage can set a field although the program has told libcurl not to send it`() {
    let lines = Self.lines(["Accept:", "Host:"])
    #expect(Self.changed(lines) { $0.append("accept", "text/plain") } == ["Host:", "accept: text/plain"])
  }

  @Test func `stages see a header that libcurl adds itself, and can replace or remove it`() {
    let lines = Self.lines(["A: 1"], made: ["User-Agent: x", "Cookie: c=1"])
    #expect(lines.fields == ["A": "1", "User-Agent": "x", "Cookie": "c=1"])
    #expect(Self.changed(lines) { $0["user-agent"] = nil } == ["A: 1", "User-Agent:"])
    #expect(Self.changed(lines) { $0["user-agent"] = "y" } == ["A: 1", "user-agent: y"])
  }

  @Test(arguments: ["User-Agent: mine", "user-agent:", "USER-AGENT;"])
  func `a line of the program replaces the header that libcurl would add itself`(line: String) {
    let lines = Self.lines([line], made: ["User-Agent: x"])
    #expect(lines.fields.count == (line.hasSuffix(":") ? 0 : 1))
    #expect(lines.fields["User-Agent"] != "x")
  }
}
