import SluiceJSON
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

  @Test func `letters without a value are combined, and options stand behind operands`() throws {
    let parsed = try parse("word", "-si", "more")
    #expect(parsed.has("silent") && parsed.has("include"))
    #expect(parsed.operands == ["word", "more"])
  }

  @Test func `two dashes end the options, and a single one is an operand`() throws {
    #expect(try parse("-", "--", "-s").operands == ["-", "-s"])
  }

  @Test func `an empty value is a value`() throws {
    #expect(try parse("--output=")["output"] == "")
  }

  @Test func `without -c and -m nothing bounds what send does`() throws {
    let arguments = try ArgumentParser.parse(["http://h/"], for: SendCommand.description)
    let configuration = Mirror(reflecting: try SendConfiguration.make(arguments))
    let deadline = configuration.descendant("deadline") as? Duration
    let timeout = configuration.descendant("transport", "timeout") as? Duration
    // The longest that a configuration can have.
    #expect(deadline == nil && timeout == DurationText.duration("876000h"))
    #expect(DurationText.duration("876001h") == nil)
  }

  @Test(arguments: [("--outptu", "--output"), ("--silent1", "--silent"), ("--incl", "--include")])
  func `what was meant is found`(_ word: String, _ meant: String) {
    #expect(Suggestion.nearest(to: word, among: ["--output", "--silent", "--include"]) == meant)
  }

  @Test func `what nobody meant is not suggested`() {
    #expect(Suggestion.nearest(to: "--colour", among: ["--output", "--silent"]) == nil)
  }
}
