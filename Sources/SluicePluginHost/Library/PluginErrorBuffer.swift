package import CSluice
import SluiceMessages

/// The buffer in which a plugin says why something failed.
package enum PluginErrorBuffer {
  private static let capacityBytes = 1024

  /// Calls into a plugin with an empty buffer; gives what it answered, and its message made presentable: one line of
  /// valid UTF-8, nil where it wrote nothing.
  package static func collect<Answer>(
    _ body: (UnsafeMutablePointer<sluice_error>) -> Answer
  ) -> (answer: Answer, message: String?) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacityBytes) { buffer in
      buffer.initialize(repeating: 0)
      var error = sluice_error(
        size: UInt32(MemoryLayout<sluice_error>.size), capacity: UInt32(capacityBytes), message: buffer.baseAddress)
      let answer = body(&error)
      let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      return (answer, presentable(bytes))
    }
  }

  private static func presentable(_ bytes: [UInt8]) -> String? {
    let text = String(String(decoding: bytes, as: UTF8.self).map { $0.isNewline || $0 == "\t" ? " " : $0 })
    guard !text.allSatisfy(\.isWhitespace) else { return nil }
    // In a full buffer, the last character may be incomplete, and what followed it is lost.
    return PlainText.line(text, limitBytes: bytes.count < capacityBytes - 1 ? PluginText.reasonBytes : bytes.count - 1)
  }
}
