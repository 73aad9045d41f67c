/// Decodes one coding, in bounded steps.
protocol StreamDecoder: AnyObject {
  /// Decodes until the input is used up or the output is full.
  /// - Parameter input: the consumed bytes are removed from its front.
  /// - Returns: the number of bytes written. If it is smaller than the size of `output`, the decoder can produce more
  ///   only from further input.
  func decode(
    _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ContentDecodingError) -> Int

  /// Whether the input so far is complete: the coded data has ended, and no further member or frame has begun after it.
  var isComplete: Bool { get }
}

extension UnsafeRawBufferPointer {
  /// The rest after the first `count` bytes.
  func dropping(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[count...]) }
}

extension UnsafeMutableRawBufferPointer {
  /// The rest after the first `count` bytes.
  func dropping(_ count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: self[count...])
  }
}
