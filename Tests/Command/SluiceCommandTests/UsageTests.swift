import SluiceTestKit
import Testing

@testable import SluiceCommand

/// The help and version of the command, and its answers to misspelled words.
@Suite struct UsageTests {
  @Test func `without a command, sluice prints help to standard error and ends with status 2`() async throws {
    let result = try await Tool.run()
    #expect(result.status == 2)
    #expect(result.outputText.isEmpty)
    #expect(result.errorText.hasPrefix("Usage: sluice COMMAND"))
  }

  @Test func `help fits a terminal of 80 columns`() async throws {
    let words = [[]] + CommandLineTool.commands.map { $0.name.split(separator: " ").map(String.init) }
    for words in words {
      let text = try await Tool.run(arguments: ["help"] + words).outputText
      #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
    }
  }

  @Test(arguments: ["help", "--help", "-h"]) func `help lists every command`(_ word: String) async throws {
    let result = try await Tool.run(word)
    #expect(result.status == 0)
    for command in CommandLineTool.commands { #expect(result.outputText.contains("  \(command.name) ")) }
  }

  @Test(arguments: CommandLineTool.commands.map(\.name))
  func `each command prints the same help with its option --help and through the command help`(
    _ name: String
  ) async throws {
    let words = name.split(separator: " ").map(String.init)
    let byOption = try await Command.run(Tool.path, words + ["--help"])
    let byCommand = try await Command.run(Tool.path, ["help"] + words)
    #expect(byOption.status == 0)
    #expect(byOption.outputText == byCommand.outputText)
    #expect(byOption.outputText.contains("--help"))
  }

  @Test(arguments: ["ctl", "plugin"])
  func `for the first word of a group of commands, --help and the command help list the group`(
    _ word: String
  ) async throws {
    let result = try await Tool.run("help", word)
    #expect(result.status == 0)
    #expect(result.outputText.hasPrefix("Usage: sluice \(word) COMMAND"))
    for name in CommandLineTool.commands.map(\.name) {
      #expect(result.outputText.contains("  \(name) ") == name.hasPrefix("\(word) "))
    }
    for option in ["--help", "-h"] {
      let byOption = try await Tool.run(word, option)
      #expect(byOption.status == 0)
      #expect(byOption.outputText == result.outputText)
    }
    #expect(try await Tool.run(word).status == 2)
  }

  @Test(arguments: ["version", "--version"])
  func `--version names the versions of the libraries in use`(_ word: String) async throws {
    let result = try await Tool.run(word)
    #expect(result.status == 0)
    for part in [
      "sluice \(VersionCommand.version)", "plugin ABI 1", "OpenSSL 3", "nghttp2 1", "jansson ", "libmicrohttpd ",
    ] {
      #expect(result.outputText.contains(part))
    }
  }

  @Test(arguments: [
    (["snd"], "did you mean \"send\""), (["send", "--hedaer", "a: b", "http://x/"], "did you mean --header?"),
    (["plugin", "biuld"], "available commands: plugin inspect"),
    (["ctl", "--socket", "x", "status"], "ctl: the command comes before its options; available commands: ctl status"),
    (["detach"], "unknown command \"detach\""),
    (["measure"], "unknown command \"measure\""), (["run", "--rate", "fast"], "--rate: expected requests a second"),
    (
      ["run", "--rate", "1000001/s"], "--rate: \"1000001/s\" is more than 1000000/s; lower it, or leave the option out"
    ),
    (["run", "-o", ""], "the name of an output file is empty; name a file"),
    (["run", "--concurrency", "0"], "expected a number from 1"), (["send", "-X"], "-X needs a value: METHOD"),
    (["send", "--document=1", "http://x/"], "--document takes no value"), (["check"], "expected -c FILE"),
    (["echo", "--port", "70000"], "expected a number from 0 to 65535"), (["send"], "expected [METHOD] URL"),
    (["version", "now"], "unexpected operand \"now\""), (["run", "--drain", "soon"], "expected a duration"),
  ])
  func `wrong usage ends with status 2 and says what was expected`(
    _ arguments: [String], _ message: String
  ) async throws {
    let result = try await Command.run(Tool.path, arguments)
    #expect(result.status == 2)
    #expect(result.outputText.isEmpty)
    #expect(result.errorText.hasPrefix("sluice: "))
    #expect(result.errorText.contains(message))
  }

  @Test func `a closed standard output ends the command with status 141 and without a message`() async throws {
    let result = try await Command.run("sh", ["-c", "\(Tool.path) help >&-; echo $?"])
    #expect(result.outputText == "1\n")
    let script = "trap '' PIPE; { read -r go; \(Tool.path) help; echo $? >&2; } | { exec <&-; echo closed >&2; }"
    let running = try Command("bash", ["-c", script]).start()
    try await running.waitForError(containing: "closed")
    try running.write("go\n")
    #expect(try await running.wait().errorText == "closed\n141\n")
  }
}
