extension Collection where Element == UInt8 {
  /// The bytes of a text without the byte order mark of UTF-8 (U+FEFF) at its beginning, which some editors write.
  ///
  /// Every reader of a text file uses it. The content of messages is not changed.
  package var withoutByteOrderMark: SubSequence { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}
