import SluiceJSON
import SluiceMessages
import Testing

@testable import SluiceCommand

/// The words of a command line.
@Suite struct ArgumentTests {
  private static let command = CommandDescription(
    "try", summary: "", operands: "WORD", operandCount: 0...2,
    options: [
      Option("output", "o", "FILE", ""), Option("silent", "s", nil, ""), Option("include", "i", nil, ""),
    ], run: { _ in .succeeded })

  private func parse(_ words: String...) throws -> ParsedArguments {
    try ArgumentParser.parse(words[...], for: Self.command)
  }

  @Test(arguments: [["-o", "f"], ["-of"], ["--output", "f"], ["--output=f"], ["-sof"]])
  func `an option's value is the next word, or attached to it`(_ words: [String]) throws {
    #expect(try ArgumentParser.parse(words[...], for: Self.command)["output"] == "f")
  }

  @Test func `option letters without a value can be combined, and options can follow operands`() throws {
    let parsed = try parse("word", "-si", "more")
    #expect(parsed.has("silent") && parsed.has("include"))
    #expect(parsed.operands == ["word", "more"])
  }

  @Test func `two dashes end the options, and a single dash is an operand`() throws {
    #expect(try parse("-", "--", "-s").operands == ["-", "-s"])
  }

  @Test func `an option can have an empty value`() throws {
    #expect(try parse("--output=")["output"] == "")
  }

  @Test func `an option letter is one byte, whatever follows it`() throws {
    // U+0301 combines with the letter before it: in a Swift string, both are one character.
    #expect(try parse("-o\u{301}")["output"] == "\u{301}")
  }

  private static func send(_ words: [ArgumentWord]) throws -> Request {
    let arguments = try ArgumentParser.parse(words + ["http://h/"], for: SendCommand.description)
    return try SendRequest(arguments, SendConfiguration.make(arguments)).make()
  }

  private static let latin1 = ArgumentWord([0x67, 0xFC])

  @Test(
    arguments: [["-d", latin1], [ArgumentWord("-d".utf8 + latin1.bytes)], ["--data-binary", latin1]] as [[ArgumentWord]]
  )
  func `data that is not UTF-8 is sent as it is`(_ words: [ArgumentWord]) throws {
    #expect(try Self.send(words).body.bytes == [0x67, 0xFC])
    #expect(try Self.send(["--data=a", "-d", "b"]).body.bytes == Array("a&b".utf8))
  }

  @Test func `a header value that is not UTF-8 is sent as it is`() throws {
    let request = try Self.send(["-H", ArgumentWord("X-A: ".utf8 + Self.latin1.bytes), "-H", "content-type:text/plain"])
    #expect(request.headers.map(\.name) == ["X-A", "content-type"])
    #expect(Array(request.headers.buffer[request.headers.valueRange(at: 0)]) == [0x67, 0xFC])
  }

  @Test func `a user and a password that are not UTF-8 are sent as they are`() throws {
    let request = try Self.send(["-u", ArgumentWord(Self.latin1.bytes + ":".utf8 + [0x3A, 0xFF])])
    let credentials = try #require(request.url.credentials)
    #expect(credentials.user == [0x67, 0xFC] && credentials.password == [0x3A, 0xFF])
  }

  @Test(
    arguments: [
      (["-o", latin1], "send: the value of -o is not UTF-8: \"g\\xFC\""),
      ([latin1], "send: an operand is not UTF-8: \"g\\xFC\""),
      (["-H", latin1], "send: -H: expected \"NAME: VALUE\", found \"g\\xFC\""),
      (["-d", ArgumentWord("@".utf8 + latin1.bytes)], "send: -d: the name of the file is not UTF-8: \"g\\xFC\""),
      ([ArgumentWord("--".utf8 + latin1.bytes)], "send: unknown option --g\\xFC"),
      ([ArgumentWord("-".utf8 + [0xFC])], "send: unknown option -\\xFC"),
      (["-H", ArgumentWord(String(repeating: "a", count: 70_000))], "aaa…\" (70000 bytes)"),
    ] as [([ArgumentWord], String)])
  func `a word that must be UTF-8 is refused if it is not, and the message escapes its bytes`(
    _ words: [ArgumentWord], _ message: String
  ) throws {
    let error = try #require(throws: CommandError.self) { try Self.send(words) }
    #expect(error.status == .usage && error.message.contains(message), "\(error)")
    #expect(error.message.utf8.count < 300)
  }

  @Test func `without -c and -m send has no time limit`() throws {
    let arguments = try ArgumentParser.parse(["http://h/"], for: SendCommand.description)
    let configuration = Mirror(reflecting: try SendConfiguration.make(arguments))
    let deadline = configuration.descendant("deadline") as? Duration
    let timeout = configuration.descendant("transport", "timeout") as? Duration
    // The longest timeout that a configuration can have.
    #expect(deadline == nil && timeout == DurationText.duration("876000h"))
    #expect(DurationText.duration("876001h") == nil)
  }

  @Test(arguments: [
    ("8", Duration.seconds(8)), ("0.5", .milliseconds(500)), ("250ms", .milliseconds(250)), ("2m", .seconds(120)),
    ("0", nil), ("0s", nil),
  ])
  func `a timeout without a unit is in seconds, and zero means no timeout`(_ text: String, _ limit: Duration?) throws {
    let arguments = try ArgumentParser.parse(["-m", text, "http://h/"], for: SendCommand.description)
    let configuration = Mirror(reflecting: try SendConfiguration.make(arguments))
    #expect(configuration.descendant("deadline") as? Duration == limit)
    let timeout = configuration.descendant("transport", "timeout") as? Duration
    #expect(timeout == limit ?? DurationText.duration("876000h"))
  }

  @Test(arguments: ["8 s", "-8", "m", "8.", "1e3", ""])
  func `a timeout that is not a duration is refused`(_ text: String) throws {
    let arguments = try ArgumentParser.parse(["--timeout=\(text)", "http://h/"], for: SendCommand.description)
    #expect(throws: CommandError.self) { try SendConfiguration.make(arguments) }
  }

  @Test(arguments: [("--outptu", "--output"), ("--silent1", "--silent"), ("--incl", "--include")])
  func `for a misspelled option, the option with the nearest name is suggested`(_ word: String, _ meant: String) {
    #expect(Suggestion.nearest(to: word, among: ["--output", "--silent", "--include"]) == meant)
  }

  @Test func `an unrelated word is not suggested`() {
    #expect(Suggestion.nearest(to: "--colour", among: ["--output", "--silent"]) == nil)
  }
}
