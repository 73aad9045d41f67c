/// The kind of words that a shell offers for the argument of an option, or for an operand.
enum Completion: Equatable {
  case nothing, files, folders, urls
  /// A program on PATH, followed by its arguments. Only the completion of that program knows these.
  case program, programArguments
  case words([String])

  /// - Parameter placeholder: the placeholder in the help, such as `FILE`, `LIBRARY[=JSON]` or `DIR`.
  init(_ placeholder: String) {
    self =
      if ["FILE", "PATH", "LIBRARY"].contains(where: { placeholder.contains($0) }) {
        .files
      } else if placeholder == "PROGRAM" {
        .program
      } else if placeholder.contains("DIR") {
        .folders
      } else if placeholder.contains("URL") {
        .urls
      } else {
        .nothing
      }
  }
}

extension Option {
  /// How the argument of an option is completed; ``Completion/nothing`` for a flag.
  var completion: Completion { words.isEmpty ? Completion(argument ?? "") : .words(words) }
}

/// The commands in the form that completion needs: commands with two words are grouped by their first word.
struct CommandTree {
  struct Entry {
    /// The first or only word of the commands.
    let word: String
    let summary: String
    /// The commands that begin with this word; empty for a command of one word.
    let members: [CommandDescription]
  }

  let commands: [CommandDescription]
  let entries: [Entry]

  init(_ commands: [CommandDescription], groups: [String: String]) {
    self.commands = commands
    var entries: [Entry] = []
    for command in commands {
      let word = command.firstWord
      guard !entries.contains(where: { $0.word == word }) else { continue }
      let members = commands.filter { $0.name.hasPrefix("\(word) ") }
      entries.append(Entry(word: word, summary: groups[word] ?? command.summary, members: members))
    }
    self.entries = entries
  }

  var groups: [Entry] { entries.filter { !$0.members.isEmpty } }
  var words: [String] { entries.map(\.word) }
}

extension CommandDescription {
  var firstWord: String { String(name.prefix { $0 != " " }) }

  /// The last word of the command's name, which is unique in its group.
  var lastWord: String { String(name.drop { $0 != " " }.dropFirst()) }

  /// An operand, for completion.
  struct Operand {
    /// The placeholder without brackets and dots.
    let placeholder: String
    let repeats: Bool
    let completion: Completion
  }

  /// - Parameter commands: the words that `help` accepts.
  func operandList(_ commands: [String]) -> [Operand] {
    let values = name == "help" ? commands : operandWords
    return operands.split(separator: " ").filter { $0 != "[--]" }.map { word in
      let placeholder = word.filter { !"[].".contains($0) }
      let isForProgram = takesProgram && word.hasSuffix("...")
      return Operand(
        placeholder: placeholder, repeats: word.hasSuffix("..."),
        completion: isForProgram
          ? .programArguments : values.isEmpty ? Completion(placeholder) : .words(values))
    }
  }
}
