import SluiceMessages

extension CrashReport {
  private static let longestMessageBytes = 500

  /// Takes the runtime's message about the crash from the last standard error output of the process: a failed check of
  /// Swift, a failed assertion, or a heap error that the C library found. All other output is ignored, because a plugin
  /// can write any text.
  ///
  /// - Parameter secrets: texts to remove, such as the strings of the configuration, because a message of the runtime
  ///   can quote them.
  public mutating func addOutput(_ bytes: some Collection<UInt8>, hiding secrets: [String] = []) {
    guard var text = Self.runtimeMessage(in: bytes) else { return }
    for secret in secrets.sorted(by: { $0.utf8.count > $1.utf8.count }) where !secret.isEmpty {
      text = text.replacing(secret, with: "…")
    }
    message = String(text.prefix(Self.longestMessageBytes))
  }

  /// The last line that looks like a runtime's message about a crash. It need not be the last line of all, because
  /// Swift writes a list of addresses after it. Control characters are escaped.
  package static func runtimeMessage(in bytes: some Collection<UInt8>) -> String? {
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let line = lines.last { line in marks.contains { line.contains($0) } }
    return line.map { PlainText.line(String($0)) }
  }

  private static let marks = [
    "Fatal error", "Precondition failed", "Assertion failed", "Assertion `", "terminate called", "*** ", "free(): ",
    "malloc(): ", "double free", "corrupted ", "munmap_chunk(): ", "realloc(): ", "stack smashing detected",
    "Fatal access conflict", "SWIFT TASK CONTINUATION MISUSE",
  ]
}
