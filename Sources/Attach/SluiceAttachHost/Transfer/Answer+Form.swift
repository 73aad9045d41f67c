import CAttachABI
import SluiceAttachRules

extension Answer {
  /// Writes the answer where C reads it.
  func write(to form: UnsafeMutablePointer<sluice_attach_answer>, in memory: inout TextMemory) {
    form.pointee.outcome = SLUICE_ATTACH_PROCEED
    form.pointee.changes = 0
    switch self {
    case .proceed: break
    case .lines(let lines):
      form.pointee.changes = UInt32(SLUICE_ATTACH_NEW_LINES)
      form.pointee.lines = UnsafePointer(memory.hold(lines))
      form.pointee.line_count = lines.count
    case .request(let changes): changes.write(to: form, in: &memory)
    case .refusal(let reason):
      form.pointee.outcome = SLUICE_ATTACH_REFUSE
      form.pointee.message = memory.hold([Array("sluice: \(reason)".utf8)])[0]
    }
  }
}

extension Answer.RequestChanges {
  fileprivate func write(to form: UnsafeMutablePointer<sluice_attach_answer>, in memory: inout TextMemory) {
    let held = memory.hold([method ?? [], url ?? [], content ?? []])
    if method != nil { form.pointee.changes |= UInt32(SLUICE_ATTACH_NEW_METHOD) }
    if url != nil { form.pointee.changes |= UInt32(SLUICE_ATTACH_NEW_URL) }
    if content != nil { form.pointee.changes |= UInt32(SLUICE_ATTACH_NEW_BODY) }
    form.pointee.method = held[0]
    form.pointee.url = held[1]
    form.pointee.content = held[2]
  }
}
