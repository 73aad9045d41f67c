import SluiceMessages

extension CrashReport {
  private static let longestMessageBytes = 500

  /// Takes from what the process wrote last to its standard error what its runtime said about the crash: a failed check of Swift, a
  /// failed assertion, what the C library found wrong with the heap. Nothing else: what a plugin writes may be anything.
  ///
  /// - Parameter secrets: text that is taken out, for instance the strings of the configuration; such a message may quote them.
  public mutating func addOutput(_ bytes: some Collection<UInt8>, hiding secrets: [String] = []) {
    guard var text = Self.runtimeMessage(in: bytes) else { return }
    for secret in secrets.sorted(by: { $0.utf8.count > $1.utf8.count }) where !secret.isEmpty {
      text = text.replacing(secret, with: "…")
    }
    message = String(text.prefix(Self.longestMessageBytes))
  }

  /// The last of these lines that a runtime writes about a crash; Swift's is followed by a list of addresses. Control
  /// characters are escaped.
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
