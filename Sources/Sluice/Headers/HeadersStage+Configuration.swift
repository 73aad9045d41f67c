import SluiceJSON
import SluiceMessages
import SluicePipeline

extension HeadersStage {
  static func make(_ setting: BuiltIns.Setting) throws(ConfigurationError) -> BuiltIns.Stage {
    let settings = try setting.read { node throws(ConfigurationError) in
      try HeadersStage.Settings(node, setting.configuration, TelemetryEnvironment { setting.warn($0) })
    }
    return BuiltIns.Stage(interceptor: HeadersStage(settings))
  }
}

extension HeadersStage.Settings {
  init(
    _ node: ConfigurationNode, _ configuration: Configuration, _ environment: TelemetryEnvironment
  ) throws(ConfigurationError) {
    self.init()
    try node.checkObject(["hosts", "requestId", "sessionId", "static", "existing"] + TraceSettings.keys)
    hosts = try Self.hosts(node["hosts"], configuration)
    traces = try TraceSettings(node, environment)
    requestIDHeader = try Self.requestIDHeader(node, configuration)
    if let session = node["sessionId"] { fields.append(try Self.session(session)) }
    var names = traces.propagators.headerNames
    names += ([requestIDHeader] + fields.map(\.name)).compactMap(\.self).map { Self.lowercased($0) }
    fields += try Self.fixed(node["static"], names, configuration.redaction)
    if let word = node["existing"] { existing = try word.word(ExistingHeaders.self) }
  }

  private static func hosts(
    _ node: ConfigurationNode?, _ configuration: Configuration
  ) throws(ConfigurationError) -> HostList {
    guard let node else { return HostList(origin: configuration.baseURL?.origin) }
    var hosts = HostList()
    for host in try node.elements() {
      hosts.patterns.append(try host.parsed { text throws(MessageError) in try HostPattern(text) })
    }
    return hosts
  }

  /// Absent takes the header that the request id is read from; null, for the whole or for `header`, sends none.
  private static func requestIDHeader(
    _ node: ConfigurationNode, _ configuration: Configuration
  ) throws(ConfigurationError) -> [UInt8]? {
    guard let value = node.value["requestId"] else { return Array(configuration.requestIDHeader.utf8) }
    guard !value.isNull, let requestID = node["requestId"] else { return nil }
    try requestID.checkObject(["header"])
    if requestID.value["header"]?.isNull == true { return nil }
    return Array(try requestID["header"]?.settableName().utf8 ?? configuration.requestIDHeader.utf8)
  }

  private static func session(_ node: ConfigurationNode) throws(ConfigurationError) -> HeadersStage.Field {
    try node.checkObject(["header", "value"])
    let name = try node["header"]?.settableName() ?? "X-Session-ID"
    let value = try node["value"]?.fieldValue() ?? SessionID.ofProcess
    return HeadersStage.Field(name: Array(name.utf8), value: Array(value.utf8))
  }

  private static func fixed(
    _ node: ConfigurationNode?, _ taken: [String], _ redaction: Redaction
  ) throws(ConfigurationError) -> [HeadersStage.Field] {
    var fields: [HeadersStage.Field] = []
    var names = taken
    for (name, member) in try node?.members() ?? [] {
      try member.checkSettable(name)
      let lowercase = name.lowercased()
      guard !names.contains(lowercase) else {
        throw member.error(
          "this stage sets \"\(name)\" already", advice: "leave it out of static, or turn the other off")
      }
      names.append(lowercase)
      var field = HeadersStage.Field(name: Array(name.utf8), value: Array(try member.fieldValue().utf8))
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

/// The id of this run of the program, for servers that group requests by it.
enum SessionID {
  static let ofProcess: String = {
    var generator = SystemRandomNumberGenerator()
    return TransactionID(using: &generator).description
  }()
}

extension ConfigurationNode {
  fileprivate func settableName() throws(ConfigurationError) -> String {
    let name = try fieldName()
    try checkSettable(name)
    return name
  }

  fileprivate func checkSettable(_ name: String) throws(ConfigurationError) {
    guard FieldSyntax.isToken(name.utf8.span) else { throw error("expected the name of a header, found \"\(name)\"") }
    guard !FieldSyntax.isHopByHop(name.utf8.span), !FieldSyntax.equals(name.utf8.span, "content-length") else {
      throw error("\"\(name)\" belongs to the connection or frames the message, and is set by the engine alone")
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
