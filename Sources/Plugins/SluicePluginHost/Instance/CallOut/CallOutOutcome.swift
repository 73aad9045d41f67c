import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// How a call-out ended.
enum CallOutOutcome {
  case response(Response)
  case failed(code: ErrorCode, message: String)

  static let cancelled = failed(
    code: .cancelled,
    message: "the call was cancelled: by the plugin, because its exchange has ended, or because the host is closing")

  init(_ error: TransportError) { self = .failed(code: error.code, message: error.message) }

  /// The call-out for a recording.
  func record(of request: Request) -> RecordedCallOut {
    switch self {
    case .response(let response): RecordedCallOut(request, response: response)
    case .failed(let code, let message): RecordedCallOut(request, error: TransportError(code, message))
    }
  }

  /// Calls `body` with the outcome in the form of the ABI, which is valid only during the call. The body of the
  /// response is in the document as text or as base64, so that no byte is lost.
  func lend(_ body: (UnsafePointer<sluice_call_result>) -> Void) {
    var result = sluice_call_result()
    result.size = UInt32(MemoryLayout<sluice_call_result>.size)
    switch self {
    case .response(let response):
      result.has_response = 1
      ResponseDocument.make(response).withUnsafeJSON { json in
        result.response = json
        body(&result)
      }
    case .failed(let code, let message):
      code.rawValue.withText { code in
        message.withText { message in
          result.error_code = code
          result.error_message = message
          body(&result)
        }
      }
    }
  }
}
