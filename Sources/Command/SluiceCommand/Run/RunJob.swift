import SluiceJSON
import SluiceMessages

/// A request from one input line. It exists from the reading of the line until the result of the request.
final class RunJob: Sendable {
  /// The `id` of the line, or its number.
  let id: ResultID
  /// The number of the line, counted from 1.
  let line: Int
  let request: Request
  let lineBytes: Int
  /// The origin of the URL in the line. A stage can still change the URL that the request is sent to.
  var origin: Origin { request.url.origin }

  init(id: ResultID, line: Int, request: Request, lineBytes: Int) {
    self.id = id
    self.line = line
    self.request = request
    self.lineBytes = lineBytes
  }
}
