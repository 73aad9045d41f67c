import CLinux
import Glibc
import SluiceMessages

/// A word of the command line, as the bytes that the system has passed. The bytes need not be UTF-8.
struct ArgumentWord: Sendable, Hashable, ExpressibleByStringLiteral {
  let bytes: [UInt8]

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  init(_ text: some StringProtocol) { bytes = Array(text.utf8) }
  init(stringLiteral text: String) { self.init(text) }

  /// The word as text; nil if the bytes are not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The word as text, with numbers in the place of bytes that are not UTF-8. Use it in messages, and to compare the
  /// word with known words.
  var shown: String { text ?? PlainText.excerpt(bytes.span) }

  /// The words that this process was started with, beginning with the program's name. `CommandLine` needs `/proc`, and
  /// its `arguments` replace bytes that are not UTF-8 by U+FFFD.
  static var ofProcess: [ArgumentWord] {
    var words: [ArgumentWord] = []
    while let start = sluice_program_argument(Int32(words.count)) {
      words.append(ArgumentWord(UnsafeRawBufferPointer(start: start, count: strlen(start))))
    }
    return words
  }
}
