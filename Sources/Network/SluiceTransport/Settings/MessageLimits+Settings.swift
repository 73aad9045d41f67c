package import SluiceHTTP1
package import SluicePipeline

extension MessageLimits {
  package init(_ limits: ResponseLimits) {
    self.init()
    headBytes = limits.maximumHeadBytes
    fields = limits.maximumHeadFields
    informationalResponses = limits.maximumInformationalResponses
    chunkExtensionBytes = limits.maximumChunkExtensionBytes
  }
}

extension MessageLimits.Limit {
  /// The key of the configuration that sets the limit.
  package var key: String {
    switch self {
    case .headBytes: "transport.maxHeadBytes"
    case .fields: "transport.maxHeadFields"
    case .informationalResponses: "transport.maxInformationalResponses"
    case .chunkExtensionBytes: "transport.maxChunkExtensionBytes"
    }
  }
}

extension MessageViolation {
  /// What is wrong with a response, and what can be done.
  package var explanation: String {
    switch kind {
    case .notHTTP: "the answer is not HTTP: \(reason); check that the URL leads to an HTTP server"
    case .invalid: "the response is not valid HTTP: \(reason); only the server can fix it"
    case .tooLong(let limit):
      "the response exceeds a limit: \(reason); if the server must send this, raise \(limit.key)"
    }
  }
}
