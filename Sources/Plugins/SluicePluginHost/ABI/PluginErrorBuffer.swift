package import CSluice
import SluiceMessages

/// The buffer in which a plugin says why something failed.
package enum PluginErrorBuffer {
  private static let capacityBytes = 1024

  /// Calls a function of a plugin with an empty buffer. Returns the plugin's answer and its message. The message is one
  /// line of valid UTF-8, or nil if the plugin wrote none.
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

  /// Writes a message of the host into a buffer that a plugin has passed to it; a message that does not fit is cut off.
  static func write(_ message: String, to error: UnsafeMutablePointer<sluice_error>?) {
    guard let error, let buffer = error.pointee.message, error.pointee.capacity > 0 else { return }
    let limit = Int(error.pointee.capacity) - 1
    let bytes = PlainText.line(message, limitBytes: limit).utf8.prefix(limit)
    for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
    buffer[bytes.count] = 0
  }

  private static func presentable(_ bytes: [UInt8]) -> String? {
    let text = String(String(decoding: bytes, as: UTF8.self).map { $0.isNewline || $0 == "\t" ? " " : $0 })
    guard !text.allSatisfy(\.isWhitespace) else { return nil }
    // If the buffer is full, the text was cut off, perhaps within a character. The limit is then one byte less than the
    // text has, so that `line` cuts the text again, between two characters.
    return PlainText.line(text, limitBytes: bytes.count < capacityBytes - 1 ? PluginText.reasonBytes : bytes.count - 1)
  }
}
