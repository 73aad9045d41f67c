import CAttachABI

extension sluice_attach_text {
  /// The bytes, borrowed like the text itself.
  var borrowed: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length) }

  /// The same memory as bytes of type `UInt8`.
  var characters: UnsafeBufferPointer<UInt8> { borrowed.bindMemory(to: UInt8.self) }

  var copied: [UInt8] { [UInt8](borrowed) }

  /// The text as a string, with U+FFFD for bytes that are not UTF-8.
  var string: String { String(decoding: borrowed, as: UTF8.self) }
}
