import CAttachABI
import Glibc
import SluiceAttachRules

/// Memory of texts that C reads, each with a NUL at its end. The texts are valid until this value holds the next texts.
struct TextMemory: ~Copyable {
  private var block: UnsafeMutableRawPointer?

  deinit { block?.deallocate() }

  /// Copies lines from one array, in which each line has a NUL at its end.
  mutating func hold(_ lines: LineText) -> UnsafeMutablePointer<sluice_attach_text> {
    let (forms, text) = makeRoom(texts: lines.count, bytes: lines.bytes.count)
    lines.bytes.withUnsafeBytes { text.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(text), byteCount: $0.count) }
    var start = UnsafePointer(text.assumingMemoryBound(to: CChar.self))
    for index in 0..<lines.count {
      let length = strlen(start)
      (forms + index).initialize(to: sluice_attach_text(bytes: start, length: length))
      start += length + 1
    }
    return forms
  }

  /// Copies texts, and adds a NUL to the end of each.
  mutating func hold(_ texts: [[UInt8]]) -> UnsafeMutablePointer<sluice_attach_text> {
    let (forms, text) = makeRoom(texts: texts.count, bytes: texts.reduce(0) { $0 + $1.count + 1 })
    var end = text
    for (index, text) in texts.enumerated() {
      text.withUnsafeBytes { if let start = $0.baseAddress { end.copyMemory(from: start, byteCount: $0.count) } }
      end.storeBytes(of: 0, toByteOffset: text.count, as: UInt8.self)
      let start = UnsafePointer(end.assumingMemoryBound(to: CChar.self))
      (forms + index).initialize(to: sluice_attach_text(bytes: start, length: text.count))
      end += text.count + 1
    }
    return forms
  }

  private mutating func makeRoom(
    texts: Int, bytes: Int
  ) -> (forms: UnsafeMutablePointer<sluice_attach_text>, text: UnsafeMutableRawPointer) {
    block?.deallocate()
    let table = texts * MemoryLayout<sluice_attach_text>.stride
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: table + bytes + 1, alignment: MemoryLayout<sluice_attach_text>.alignment)
    self.block = block
    return (block.bindMemory(to: sluice_attach_text.self, capacity: max(texts, 1)), block + table)
  }
}
