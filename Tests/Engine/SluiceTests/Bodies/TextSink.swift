import SluiceMessages
import SluicePipeline
import SluiceTestKit

/// Collects a response body as text.
final class TextSink: BodySink {
  let text = Watched("")

  func begin(_ head: Response) {}
  func receive(_ piece: [UInt8]) -> BodyProgress {
    text.update { $0 += String(decoding: piece, as: UTF8.self) }
    return .proceed
  }
}
