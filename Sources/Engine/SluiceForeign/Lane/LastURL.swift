import Glibc
import SluiceIDNA
package import SluiceMessages

/// The URL that was parsed last: many programs request the same URL again and again, and parsing it costs as much as
/// the stages. Confined to its loop.
package final class LastURL {
  private var last: (text: [UInt8], url: HTTPURL)?

  /// Parses a URL. Returns nil if it is invalid or ambiguous.
  package func read(_ bytes: UnsafeRawBufferPointer) -> HTTPURL? {
    if let last, Self.isEqual(last.text, bytes) { return last.url }
    guard let url = try? HTTPURL(String(decoding: bytes, as: UTF8.self), hosts: .idna) else { return nil }
    last = ([UInt8](bytes), url)
    return url
  }

  private static func isEqual(_ text: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, text.count == bytes.count else { return false }
    return memcmp(text, start, bytes.count) == 0
  }
}
