package import SluiceMessages

/// The facts of one request on the wire, in the terms of OpenTelemetry's conventions for HTTP client spans and metrics
/// (semantic conventions 1.37, "HTTP spans", "HTTP metrics").
package struct HopFacts: Sendable, Hashable {
  package var method: String
  package var url: String
  /// Nil if there was no response.
  package var status: Int?
  /// The engine's error code if the hop failed; nil if it did not fail.
  package var errorCode: String?
  package var errorMessage = ""
  /// How many requests the transaction has sent before this one: retries, redirects and answers to challenges all
  /// count.
  package var resendCount = 0
  /// The version of HTTP, such as `1.1` or `2`; nil if it is unknown.
  package var protocolVersion: String?
  package var peerAddress: String?
  package var peerPort: Int?

  package init(method: String, url: String, status: Int? = nil, errorCode: String? = nil, errorMessage: String = "") {
    self.method = method
    self.url = url
    self.status = status
    self.errorCode = errorCode
    self.errorMessage = errorMessage
  }

  /// The methods of RFC 9110, and PATCH (RFC 5789): the default of the conventions.
  package static let knownMethods: Set<String> = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
  ]

  /// The value of `error.type`: the engine's code, otherwise the status if it is an error; nil if there is no error.
  package var errorType: String? {
    errorCode ?? status.flatMap { Self.isError($0) ? String($0) : nil }
  }

  /// For a client, 4xx and 5xx are errors, and so is a status that it cannot interpret.
  private static func isError(_ status: Int) -> Bool { !(100...399).contains(status) }

  /// The name of the span.
  package func name(knownMethods: Set<String> = Self.knownMethods) -> String {
    knownMethods.contains(method) ? method : "HTTP"
  }

  /// An error that is only a status has no message, because an attribute already contains the status.
  package var spanStatus: ExportedSpan.Status {
    if errorCode != nil { return ExportedSpan.Status(code: .error, message: errorMessage) }
    return errorType == nil ? .unset : ExportedSpan.Status(code: .error)
  }

  /// The attributes of the span.
  ///
  /// - Parameter secrets: the parts of the URL that are hidden.
  package func spanAttributes(knownMethods: Set<String> = Self.knownMethods, hiding secrets: Redactor) -> [Attribute] {
    var attributes = [methodAttribute(knownMethods)]
    if !knownMethods.contains(method) { attributes.append(Attribute("http.request.method_original", method)) }
    attributes += serverAttributes
    attributes.append(Attribute("url.full", secrets.url(url)))
    if resendCount > 0 { attributes.append(Attribute("http.request.resend_count", .integer(Int64(resendCount)))) }
    attributes += resultAttributes
    if let peerAddress {
      attributes.append(Attribute("network.peer.address", peerAddress))
      if let peerPort { attributes.append(Attribute("network.peer.port", .integer(Int64(peerPort)))) }
    }
    return attributes
  }

  /// The attributes of `http.client.request.duration`: the attributes of the span that have few different values.
  package func metricAttributes(knownMethods: Set<String> = Self.knownMethods) -> [Attribute] {
    [methodAttribute(knownMethods)] + serverAttributes + resultAttributes
  }

  private func methodAttribute(_ known: Set<String>) -> Attribute {
    Attribute("http.request.method", known.contains(method) ? method : "_OTHER")
  }

  private var serverAttributes: [Attribute] {
    guard let origin = try? HTTPURL(url).origin else { return [] }
    return [Attribute("server.address", origin.host), Attribute("server.port", .integer(Int64(origin.port)))]
  }

  private var resultAttributes: [Attribute] {
    var attributes: [Attribute] = []
    if let status { attributes.append(Attribute("http.response.status_code", .integer(Int64(status)))) }
    if let errorType { attributes.append(Attribute("error.type", errorType)) }
    if let protocolVersion { attributes.append(Attribute("network.protocol.version", protocolVersion)) }
    return attributes
  }
}
