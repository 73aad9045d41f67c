/// Undoes one coding, a bounded step at a time.
protocol StreamDecoder: AnyObject {
  /// Decodes until the input is used up or the output is full.
  /// - Parameter input: loses from its front what was taken.
  /// - Returns: bytes written; fewer than there is room for means that nothing is left to write without more input.
  func decode(
    _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int

  /// Whether what came so far is whole: its coded data has ended, and nothing has begun after that.
  var isComplete: Bool { get }
}

extension UnsafeRawBufferPointer {
  /// Without the first bytes.
  func dropping(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[count...]) }
}

extension UnsafeMutableRawBufferPointer {
  /// Without the first bytes.
  func dropping(_ count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: self[count...])
  }
}
