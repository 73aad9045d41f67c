import SluiceAttachRules
import SluiceMessages

/// What the host answers to a call of the preloaded library: the changes to the program's settings, or a refusal.
enum Answer {
  case proceed
  case lines(LineText)
  case request(RequestChanges)
  /// Why the transfer must end.
  case refusal(String)

  /// The answer of the request stages. It has no headers, because headers are set with each hop.
  init(changing before: Request, to after: Request) {
    let changes = RequestChanges(from: before, to: after)
    self = changes.isEmpty ? .proceed : .request(changes)
  }

  /// What the request stages have changed. A nil member means that there is no change.
  struct RequestChanges {
    var method: [UInt8]?
    var url: [UInt8]?
    var content: [UInt8]?

    init(from before: Request, to after: Request) {
      if after.method != before.method { method = Array(after.method.utf8) }
      if after.url != before.url { url = Array(after.url.stringWithoutFragment.utf8) }
      if let bytes = after.body.bytes, bytes != before.body.bytes { content = bytes }
    }

    var isEmpty: Bool { method == nil && url == nil && content == nil }
  }
}
