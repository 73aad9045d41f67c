import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

extension HeadersStage.Settings {
  init(
    _ node: ConfigurationNode, _ configuration: Configuration, _ environment: TelemetryEnvironment
  ) throws(ConfigurationError) {
    self.init()
    try node.checkObject(
      ["hosts", "exclude", "signed", "requestId", "sessionId", "static", "existing"] + TraceSettings.keys)
    hosts = try HostList(
      hosts: node["hosts"], excluded: node["exclude"], base: configuration.baseURL,
      excluding: TelemetryEndpoints.exclusions(environment))
    if let word = node["signed"] { signed = try word.word(SignedRequests.self) }
    secrets = Redactor(headers: configuration.redaction.headers, query: configuration.redaction.query)
    traces = try TraceSettings(node, environment)
    requestIDHeader = try Self.requestIDHeader(node, configuration)
    session = try node["sessionId"].map { node throws(ConfigurationError) in try Self.session(node) }
    var names = traces.propagators.headerNames
    names += [requestIDHeader, session?.header ?? []].filter { !$0.isEmpty }.map { Self.lowercased($0) }
    fields = try Self.fixed(node["static"], names, configuration.redaction)
    if let word = node["existing"] { existing = try word.word(ExistingHeaders.self) }
  }

  /// The header in which the request id is sent; empty if none is sent. By default, this is the header from which the
  /// request id is read. If the setting `requestId` or its `header` is null, no header is sent.
  private static func requestIDHeader(
    _ node: ConfigurationNode, _ configuration: Configuration
  ) throws(ConfigurationError) -> [UInt8] {
    guard let value = node.value["requestId"] else {
      try node.checkSettable(configuration.requestIDHeader)
      return Array(configuration.requestIDHeader.utf8)
    }
    guard !value.isNull, let requestID = node["requestId"] else { return [] }
    try requestID.checkObject(["header"])
    if requestID.value["header"]?.isNull == true { return [] }
    if let header = requestID["header"] { return Array(try header.settableName().utf8) }
    try requestID.checkSettable(configuration.requestIDHeader)
    return Array(configuration.requestIDHeader.utf8)
  }

  private static func session(
    _ node: ConfigurationNode
  ) throws(ConfigurationError) -> (header: [UInt8], id: SessionID) {
    try node.checkObject(["header", "value", "rotateAfterIdle"])
    let header = Array(try node["header"]?.settableName().utf8 ?? "X-Session-ID".utf8)
    guard let rotation = node["rotateAfterIdle"] else {
      return (header, .fixed(Array(try node["value"]?.fieldValue().utf8 ?? SessionID.ofProcess.utf8)))
    }
    guard node["value"] == nil else {
      throw rotation.error("a session id with a \"value\" never changes", advice: "leave one of the two out")
    }
    let idle = try rotation.duration()
    guard idle > .zero else { throw rotation.error("expected a time above zero") }
    return (header, .rotating(RotatingSessionID(idle: idle)))
  }

  private static func fixed(
    _ node: ConfigurationNode?, _ taken: [String], _ redaction: RedactionSettings
  ) throws(ConfigurationError) -> [HeadersStage.Field] {
    var fields: [HeadersStage.Field] = []
    var names = taken
    for (name, member) in try node?.members() ?? [] {
      try member.checkSettable(name)
      let lowercase = name.lowercased()
      guard !names.contains(lowercase) else {
        throw member.error(
          "this stage already sets \"\(name)\"", advice: "leave it out of static, or turn the other setting off")
      }
      names.append(lowercase)
      var field = HeadersStage.Field(name: Array(name.utf8), value: Array(try member.fieldValue().utf8))
      if lowercase == "host" {
        do { try HeaderFields.checkHost(field.value.span) } catch { throw member.error("\(error)") }
      }
      if redaction.headers.contains(lowercase) || lowercase == "authorization" || lowercase == "cookie" {
        field.marks.insert(.sensitive)
      }
      fields.append(field)
    }
    return fields
  }

  private static func lowercased(_ name: [UInt8]) -> String {
    String(decoding: name.map(\.asciiLowercased), as: UTF8.self)
  }
}

extension ConfigurationNode {
  fileprivate func settableName() throws(ConfigurationError) -> String {
    let name = try fieldName()
    try checkSettable(name)
    return name
  }

  fileprivate func checkSettable(_ name: String) throws(ConfigurationError) {
    guard FieldSyntax.isToken(name.utf8.span) else {
      throw error("expected the name of a header, found \(PlainText.quote(name))")
    }
    guard !FieldSyntax.isTransportField(name.utf8.span) else {
      throw error("\"\(name)\" belongs to the connection or frames the message, so only the engine sets it")
    }
  }

  fileprivate func fieldValue() throws(ConfigurationError) -> String {
    let value = try string()
    guard FieldSyntax.isFieldValue(value.utf8.span) else {
      throw error("expected the value of a header: no control characters, no space at either end")
    }
    return value
  }
}
