import CAttachABI
import SluiceMessages

/// What libcurl is to do differently from what the program has said; nil for what stays.
struct Answer {
  var lines: [[UInt8]]?
  var method: [UInt8]?
  var url: [UInt8]?
  var content: [UInt8]?
  /// Why the transfer must end.
  var message: [UInt8]?

  init(lines: [[UInt8]]? = nil) { self.lines = lines }

  init(refusing reason: String) { message = Array("sluice: \(reason)".utf8) }

  /// The headers are set with each hop.
  init(changing before: Request, to after: Request) {
    if after.method != before.method { method = Array(after.method.utf8) }
    if after.url != before.url { url = Array(after.url.stringWithoutFragment.utf8) }
    if let bytes = after.body.bytes, bytes != before.body.bytes { content = bytes }
  }

  var hasOnlyLines: Bool { method == nil && url == nil && content == nil && message == nil }

  var bits: UInt32 {
    var bits = 0
    if lines != nil { bits |= Int(SLUICE_ATTACH_NEW_LINES) }
    if method != nil { bits |= Int(SLUICE_ATTACH_NEW_METHOD) }
    if url != nil { bits |= Int(SLUICE_ATTACH_NEW_URL) }
    if content != nil { bits |= Int(SLUICE_ATTACH_NEW_BODY) }
    return UInt32(bits)
  }
}
