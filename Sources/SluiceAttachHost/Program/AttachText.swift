import CAttachABI

extension sluice_attach_text {
  /// Borrowed, as the text itself.
  var borrowed: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length) }

  /// The same as bytes.
  var characters: UnsafeBufferPointer<UInt8> { borrowed.bindMemory(to: UInt8.self) }

  var copied: [UInt8] { [UInt8](borrowed) }

  /// With U+FFFD for what is not UTF-8.
  var string: String { String(decoding: borrowed, as: UTF8.self) }
}
