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
    message: "the call was cancelled: by the plugin, with the exchange that it was made for, or by the host's end")

  init(_ error: TransportError) { self = .failed(code: error.code, message: error.message) }

  /// Lends the outcome in the form of the ABI. The body stays text or base64, so that no byte of it is lost.
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
