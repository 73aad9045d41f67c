/// The hexadecimal digits of an id; nil if all its bytes are zero.
func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String? {
  guard bytes.contains(where: { $0 != 0 }) else { return nil }
  let digits = Array("0123456789abcdef".utf8)
  return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
