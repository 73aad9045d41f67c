import SluiceSupport

/// The first line of a script, as the kernel reads it (execve(2)).
struct ScriptHead {
  private static let limitBytes = 256

  /// The program that reads the script: a path, or a name to look for on `PATH`.
  let interpreter: [UInt8]

  /// Nil for a file that is not a script. A text file without a `#!` line is a script for the shell.
  init?(_ bytes: [UInt8]) {
    let line = bytes.prefix(Self.limitBytes).prefix { $0 != UInt8(ascii: "\n") }
    guard line.starts(with: "#!".utf8) else {
      if bytes.starts(with: "\u{7F}ELF".utf8) || line.contains(0) { return nil }
      interpreter = Array("/bin/sh".utf8)
      return
    }
    let words = line.dropFirst(2).split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard let first = words.first else { return nil }
    interpreter = Self.isEnv(first) ? Self.program(ofEnv: words.dropFirst()) ?? Array(first) : Array(first)
  }

  private static func isEnv(_ path: ArraySlice<UInt8>) -> Bool { path.reversed().starts(with: "vne/".utf8) }

  /// The first word that is neither an option nor a variable, as in `#!/usr/bin/env -S A=1 python3 -u`.
  private static func program(ofEnv words: ArraySlice<ArraySlice<UInt8>>) -> [UInt8]? {
    words.first { $0.first != UInt8(ascii: "-") && !$0.contains(UInt8(ascii: "=")) }.map(Array.init)
  }
}
