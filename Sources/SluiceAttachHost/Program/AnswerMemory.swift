import CAttachABI
import SluiceMessages

/// The memory of what a transfer last answered. It lives until the next answer, as the ABI promises.
final class AnswerMemory {
  private var block: UnsafeMutableRawPointer?

  deinit { block?.deallocate() }

  /// The texts, each with a NUL at the end.
  func hold(_ texts: [[UInt8]]) -> UnsafeMutablePointer<sluice_attach_text>? {
    block?.deallocate()
    let table = texts.count * MemoryLayout<sluice_attach_text>.stride
    let size = table + texts.reduce(0) { $0 + $1.count + 1 }
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: max(size, 1), alignment: MemoryLayout<sluice_attach_text>.alignment)
    self.block = block
    guard !texts.isEmpty else { return nil }
    let forms = block.bindMemory(to: sluice_attach_text.self, capacity: texts.count)
    var end = block + table
    for (index, text) in texts.enumerated() {
      text.withUnsafeBytes { bytes in
        if let start = bytes.baseAddress { end.copyMemory(from: start, byteCount: bytes.count) }
      }
      end.storeBytes(of: 0, toByteOffset: text.count, as: UInt8.self)
      let start = UnsafePointer(end.assumingMemoryBound(to: CChar.self))
      (forms + index).initialize(to: sluice_attach_text(bytes: start, length: text.count))
      end += text.count + 1
    }
    return forms
  }
}
