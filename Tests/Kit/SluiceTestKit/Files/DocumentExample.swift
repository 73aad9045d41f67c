/// A code block in a document of the repository.
package struct DocumentExample: Sendable, CustomStringConvertible {
  /// The path of the document, relative to the repository's folder.
  package let page: String
  /// The line of the document on which the text begins.
  package let line: Int
  /// The text after the opening fence, such as `json request`. For a file that a shell block writes (`cat >FILE
  /// <<'JSON'`), this is `json configuration`.
  package let words: [String]
  package let text: String

  package var description: String { "\(page):\(line)" }

  /// The code blocks of all documents whose fence has this language.
  package static func all(in language: String) -> [DocumentExample] {
    pages.flatMap { page in
      let text = (try? FileTree.readText(RepositoryRoot.path(page))) ?? ""
      return read(text, page).filter { $0.words.first == language }
    }
  }

  static var pages: [String] {
    let folders =
      ["", "docs/", "docs/command/", "docs/decisions/", "Examples/", "Benchmarks/", "Fuzzers/"]
      + ["plugins", "Examples"].flatMap { parent in
        FileTree.names(in: RepositoryRoot.path(parent)).map { "\(parent)/\($0)/" }
      }
    return folders.flatMap { folder in
      FileTree.names(in: RepositoryRoot.path(folder)).filter { $0.hasSuffix(".md") }.map { folder + $0 }
    }
  }

  static func read(_ text: String, _ page: String) -> [DocumentExample] {
    var examples: [DocumentExample] = []
    var block: DocumentExample?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let fence = line.drop { $0 == " " }
      if let open = block {
        block = fence == "```" ? nil : open.appending(line)
        if fence == "```" { examples += [open] + open.writtenFiles }
      } else if fence.hasPrefix("```") {
        let words = fence.dropFirst(3).split(separator: " ").map(String.init)
        block = DocumentExample(page: page, line: index + 2, words: words, text: "")
      }
    }
    return examples
  }

  private func appending(_ line: Substring) -> DocumentExample {
    DocumentExample(page: page, line: self.line, words: words, text: "\(text)\(line)\n")
  }

  /// The configuration files that a shell block writes.
  private var writtenFiles: [DocumentExample] {
    var files: [DocumentExample] = []
    var file: DocumentExample?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if let open = file {
        file = line == "JSON" ? nil : open.appending(line)
        if line == "JSON" { files.append(open) }
      } else if line.hasPrefix("cat >"), line.contains(".json <<") {
        file = DocumentExample(page: page, line: self.line + index + 1, words: ["json", "configuration"], text: "")
      }
    }
    return files
  }
}
