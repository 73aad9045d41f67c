import SluiceMessages
import Testing

@testable import SluiceAttachRules

/// How the lines of a response's head become fields for stages, and which lines the program gets after a change.
@Suite struct ResponseHeadLinesTests {
  private static func lines(_ lines: [String]) -> ResponseHeadLines {
    var all = ResponseHeadLines()
    for line in lines { all.append(line: line.utf8.span) }
    return all
  }

  /// Returns the lines for the fields after the change.
  private static func changed(_ lines: ResponseHeadLines, _ change: (inout HeaderFields) -> Void) -> [String]? {
    var fields = lines.fields
    change(&fields)
    return lines.lines(for: fields)?.texts
  }

  private static let head = ["HTTP/1.1 200 OK: 1\r\n", "A:1\r\n", "b: 2 \n", "A: 3\r\n", "\r\n"]

  @Test func `fields are read from the lines between the status line and the empty line`() {
    #expect(Self.lines(Self.head).fields == ["A": "1", "b": "2", "A": "3"])
    #expect(Self.changed(Self.lines(Self.head)) { _ in } == nil)
  }

  @Test(arguments: ["no colon\r\n", "bad name: 1\r\n", ": 1\r\n", "A: \u{1}\r\n"])
  func `a line that is not a field is not shown to stages, and stays unchanged`(line: String) {
    let lines = Self.lines(["HTTP/2 200 \r\n", line, " folded\r\n", "\r\n"])
    #expect(lines.fields.isEmpty)
    #expect(
      Self.changed(lines) { $0.append("B", "2") } == ["HTTP/2 200 \r\n", line, " folded\r\n", "B: 2\r\n", "\r\n"])
  }

  @Test func `a changed field stays in its place, and a new one comes last`() {
    let lines = Self.lines(Self.head)
    #expect(
      Self.changed(lines) {
        $0["B"] = "4"
        $0.append("C", "5")
      } == [Self.head[0], "A:1\r\n", "B: 4\r\n", "A: 3\r\n", "C: 5\r\n", "\r\n"])
  }

  @Test func `if a name is repeated, the values decide which lines stay`() {
    let two = Self.changed(Self.lines(Self.head)) { $0 = ["A": "3", "b": "2"] }
    #expect(two == [Self.head[0], "b: 2 \n", "A: 3\r\n", "\r\n"])
    #expect(Self.changed(Self.lines(Self.head)) { $0["A"] = nil } == [Self.head[0], "b: 2 \n", "\r\n"])
  }

  @Test func `a folded line belongs to the previous field`() {
    let lines = Self.lines(["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\t2\r\n", "B: 3\r\n", "\r\n"])
    #expect(lines.fields == ["A": "1 2", "B": "3"])
    #expect(Self.changed(lines) { $0["B"] = nil } == ["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\t2\r\n", "\r\n"])
    #expect(Self.changed(lines) { $0["A"] = "4" } == ["HTTP/1.1 200 OK\r\n", "A: 4\r\n", "B: 3\r\n", "\r\n"])
  }

  @Test func `trailers stay after the head`() {
    let lines = Self.lines(["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\r\n", "X-Sum: 1\r\n", "\r\n"])
    #expect(lines.fields == ["A": "1"])
    #expect(
      Self.changed(lines) { $0.append("B", "2") }
        == ["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "B: 2\r\n", "\r\n", "X-Sum: 1\r\n", "\r\n"])
  }

  @Test func `without an empty line, new fields come at the end`() {
    #expect(
      Self.changed(Self.lines(["HTTP/1.1 404 No\r\n", "A: 1\r\n"])) { $0.append("B", "2") }
        == ["HTTP/1.1 404 No\r\n", "A: 1\r\n", "B: 2\r\n"])
  }
}
