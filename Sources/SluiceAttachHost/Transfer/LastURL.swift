import SluiceIDNA
import SluiceMessages
import SluiceSupport

/// The URL that was read last: many programs ask for the same one again and again, and reading it costs as much as the
/// stages.
final class LastURL: Sendable {
  private let last = Locked<(text: [UInt8], url: HTTPURL)?>(nil)

  /// Nil for a URL that different readers would understand differently.
  func read(_ bytes: UnsafeRawBufferPointer) -> HTTPURL? {
    last.withLock { last in
      if let last, last.text.count == bytes.count, last.text.elementsEqual(bytes) { return last.url }
      guard let url = try? HTTPURL(String(decoding: bytes, as: UTF8.self), hosts: .idna) else { return nil }
      last = ([UInt8](bytes), url)
      return url
    }
  }
}
