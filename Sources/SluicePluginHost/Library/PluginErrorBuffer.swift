package import CSluice

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
      return (answer, presentable(String(decoding: bytes, as: UTF8.self)))
    }
  }

  private static func presentable(_ text: String) -> String? {
    let characters = text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
    let visible = String(
      characters.filter { character in
        !character.unicodeScalars.contains { $0.properties.generalCategory == .control }
      })
    return visible.allSatisfy(\.isWhitespace) ? nil : visible
  }
}
