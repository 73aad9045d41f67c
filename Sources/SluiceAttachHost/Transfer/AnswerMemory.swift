import CAttachABI
import Glibc
import SluiceAttachRules

/// The memory of what a transfer last answered. It lives until the next answer, as the ABI promises.
struct AnswerMemory: ~Copyable {
  private var block: UnsafeMutableRawPointer?

  deinit { block?.deallocate() }

  /// Writes the answer where C reads it.
  mutating func write(_ answer: Answer, to form: UnsafeMutablePointer<sluice_attach_answer>) {
    form.pointee.outcome = SLUICE_ATTACH_PROCEED
    form.pointee.changes = 0
    switch answer {
    case .proceed: break
    case .lines(let lines):
      form.pointee.changes = UInt32(SLUICE_ATTACH_NEW_LINES)
      form.pointee.lines = UnsafePointer(hold(lines))
      form.pointee.line_count = lines.count
    case .request(let changes): write(changes, to: form)
    case .refusal(let reason):
      form.pointee.outcome = SLUICE_ATTACH_REFUSE
      form.pointee.message = hold([Array("sluice: \(reason)".utf8)])[0]
    }
  }

  private mutating func write(
    _ changes: Answer.RequestChanges, to form: UnsafeMutablePointer<sluice_attach_answer>
  ) {
    let held = hold([changes.method ?? [], changes.url ?? [], changes.content ?? []])
    if changes.method != nil { form.pointee.changes |= UInt32(SLUICE_ATTACH_NEW_METHOD) }
    if changes.url != nil { form.pointee.changes |= UInt32(SLUICE_ATTACH_NEW_URL) }
    if changes.content != nil { form.pointee.changes |= UInt32(SLUICE_ATTACH_NEW_BODY) }
    form.pointee.method = held[0]
    form.pointee.url = held[1]
    form.pointee.content = held[2]
  }

  /// Copies of lines, which are found in one array by their NULs.
  private mutating func hold(_ lines: LineText) -> UnsafeMutablePointer<sluice_attach_text> {
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

  /// Copies of texts, each with a NUL at its end.
  private mutating func hold(_ texts: [[UInt8]]) -> UnsafeMutablePointer<sluice_attach_text> {
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
