import Testing

@testable import SluiceCommand

/// The requests that the arguments of `send` describe.
@Suite struct SendPlanTests {
  private static func urls(_ text: String) throws -> [String] {
    let glob = try URLGlob(text)
    return (0..<glob.count).map { glob[$0].url }
  }

  @Test(arguments: [
    ("h/{a,b}", ["h/a", "h/b"]), ("h/{a,}", ["h/a", "h/"]), ("h/[1-3]", ["h/1", "h/2", "h/3"]),
    ("h/[08-10]", ["h/08", "h/09", "h/10"]), ("h/[1-9:4]", ["h/1", "h/5", "h/9"]), ("h/[a-c]", ["h/a", "h/b", "h/c"]),
    ("h/[A-E:2]", ["h/A", "h/C", "h/E"]), ("{a,b}[1-2]", ["a1", "a2", "b1", "b2"]),
    ("http://[::1]:8/x", ["http://[::1]:8/x"]),
    ("http://[fe80::1%25eth0]/", ["http://[fe80::1%25eth0]/"]), ("h/x[]", ["h/x[]"]),
    ("h/\\{a\\}\\[1\\]", ["h/{a}[1]"]),
    ("plain", ["plain"]), ("", [""]),
  ])
  func `a URL with braces or brackets stands for several URLs`(_ text: String, _ urls: [String]) throws {
    #expect(try Self.urls(text) == urls)
  }

  @Test(arguments: [
    ("h/{a", "{ has no end"), ("h/a}", "} has no beginning"), ("h/[1-", "[ has no end"), ("h/[3-1]", "is not a range"),
    ("h/[1-2:0]", "is not a range"), ("h/[a-Z]", "is not a range"), ("h/[a-1]", "is not a range"),
    ("h/[-]", "is not a range"),
    ("h/{a{b}}", "within {"), ("h/{}", "{} is empty"), ("h/[1-9999999999999999]", "is not a range"),
    ("h/[1-999999999][1-999999999][1-999999999]", "stands for more than"),
  ])
  func `a wrong pattern is refused`(_ text: String, _ message: String) {
    #expect { try URLGlob(text) } throws: { "\($0)".contains(message) }
  }

  @Test func `an output name can contain the texts of the URL's patterns`() {
    #expect(URLGlob.name("#1-#2.#3#", with: ["a", "b"]) == "a-b.#3#")
  }

  private static func requests(_ words: String...) throws -> [ParsedArguments] {
    let plan = try SendPlan(ArgumentParser.parse(words.map { ArgumentWord($0) }[...], for: SendCommand.description))
    return (0..<plan.count).map { plan[$0] }
  }

  @Test func `the first output belongs to the first URL`() throws {
    let requests = try Self.requests("-o", "#1.txt", "-O", "PUT", "http://h/{a,b}", "http://h/c", "http://h/d", "-s")
    #expect(requests.map { $0["output"] } == ["a.txt", "b.txt", nil, nil])
    #expect(requests.map { $0.has("remote-name") } == [false, false, true, false])
    #expect(requests.map(\.operands) == ["a", "b", "c", "d"].map { ["PUT", "http://h/\($0)"] })
    #expect(requests.allSatisfy { $0.has("silent") })
  }

  @Test(arguments: [
    (["get", "h"], ["get", "h"]), (["M-SEARCH", "h"], ["M-SEARCH", "h"]), (["localhost", "h"], ["localhost"]),
    (["GET"], ["GET"]),
  ])
  func `if the first operand is a method name, it becomes the request's method`(
    _ words: [String], _ first: [String]
  ) throws {
    let plan = try SendPlan(ArgumentParser.parse(words.map { ArgumentWord($0) }[...], for: SendCommand.description))
    #expect(plan[0].operands == first)
  }

  @Test(arguments: [["h", "GET"], ["GET", "h", "POST"], ["--url", "h", "i", "PUT"]])
  func `a method after a URL is refused, and not taken for a host`(_ words: [String]) {
    #expect {
      try SendPlan(ArgumentParser.parse(words.map { ArgumentWord($0) }[...], for: SendCommand.description))
    } throws: { "\($0)".contains("is not before the URLs, where the method is") }
  }

  @Test func `the URLs of a plan are made on demand and need no memory`() throws {
    let plan = try SendPlan(ArgumentParser.parse(["h/[0-99999999]"], for: SendCommand.description))
    #expect(plan.count == 100_000_000)
    #expect(plan[99_999_999].operands == ["h/99999999"])
  }
}
