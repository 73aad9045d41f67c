import CAttachABI
import SluiceMessages
import SluicePipeline

extension Response {
  /// Nil if the form has no valid status.
  init?(_ form: sluice_attach_response, _ facts: sluice_attach_facts?) {
    guard (200...999).contains(form.status) else { return nil }
    var fields = HeaderFields()
    let texts = UnsafeBufferPointer(start: form.fields, count: form.fields == nil ? 0 : 2 * form.field_count)
    for index in stride(from: 0, to: texts.count, by: 2) {
      let (name, value) = (texts[index].characters, texts[index + 1].characters)
      // Libcurl does not check the fields as strictly as stages expect, so invalid fields are left out.
      guard (try? HeaderFields.check(name: name.span, value: value.span)) != nil else { continue }
      fields.append(name.span, value.span)
    }
    self.init(status: Int(form.status), headers: fields, version: HTTPVersion(facts?.http_version ?? 0))
  }
}

extension HTTPVersion {
  init?(_ number: Int32) {
    switch number {
    case 10: self = .http10
    case 11: self = .http11
    case 20: self = .http2
    case 30: self = .http3
    default: return nil
    }
  }
}

extension TransportError {
  /// Nil if the transfer succeeded, and also if it failed only because of the response's status.
  ///
  /// - Parameter hasHead: whether the head of a response has arrived.
  init?(curlCode code: Int32, _ reason: String, hasHead: Bool) {
    let kind: ErrorCode
    switch code {
    case 0: return nil
    // CURLE_HTTP_RETURNED_ERROR
    case 22 where hasHead: return nil
    case 5, 97: kind = .proxy
    case 6: kind = .nameLookup
    case 7: kind = .connect
    case 28: kind = .timeout
    case 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91: kind = .tls
    case 18, 52, 55, 56, 92, 95: kind = .connectionLost
    case 23: kind = .bodyFile
    case 42: kind = .cancelled
    case 61: kind = .decoding
    case 63: kind = .responseTooLarge
    case 1, 8: kind = .invalidResponse
    default: kind = .transport
    }
    self.init(kind, "libcurl: \(reason) (\(code))", isBeforeSending: [5, 6, 7].contains(code))
  }
}
