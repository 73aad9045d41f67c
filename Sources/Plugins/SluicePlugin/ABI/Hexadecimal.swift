import SluiceMessages

/// The hexadecimal digits of an id; nil if all its bytes are zero.
func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String? {
  bytes.contains { $0 != 0 } ? bytes.hexadecimal : nil
}
