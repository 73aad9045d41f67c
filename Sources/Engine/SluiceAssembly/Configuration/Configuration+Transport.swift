import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

extension Configuration {
  mutating func readTransport(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject([
      "baseURL", "timeout", "connectTimeout", "loops", "maxConnectionsPerHost", "httpVersion", "maxRequestBytes",
      "maxResponseBytes", "spillBytes", "proxy", "tls", "userAgent", "engine", "maxHeadBytes", "maxHeadFields",
      "maxInformationalResponses", "maxChunkExtensionBytes", "decode",
    ])
    if let url = node["baseURL"] {
      baseURL = try url.parsed { text throws(MessageError) in try HTTPURL(text, hosts: .idna) }
    }
    if let timeout = node["timeout"] { transport.timeout = try timeout.timeLimit() }
    if let timeout = node["connectTimeout"] { transport.connectTimeout = try timeout.timeLimit() }
    if let loops = node["loops"] { transport.loops = try loops.integer(1...128) }
    if let limit = node["maxConnectionsPerHost"] { transport.maximumConnectionsPerHost = try limit.integer(1...65535) }
    if let version = node["httpVersion"] {
      transport.assumesHTTP2 = try version.string() == Self.priorKnowledge
      transport.httpVersion = transport.assumesHTTP2 ? .http2 : try Self.version(version)
    }
    if let limit = node["maxRequestBytes"] { transport.maximumRequestBytes = try limit.integer(0...(1 << 40)) }
    if let limit = node["maxResponseBytes"] { transport.maximumResponseBytes = try limit.integer(0...(1 << 40)) }
    if let limit = node["spillBytes"] { transport.spillBytes = try limit.integer(0...(1 << 40)) }
    if let proxy = node["proxy"] { transport.proxy = try Self.proxy(proxy) }
    if let tls = node["tls"] { try readTLS(tls) }
    if let decode = node["decode"] { transport.decodesContent = try decode.bool() }
    if let engine = node["engine"] { try readEngine(engine) }
    try readResponseLimits(node)
    if let agent = node["userAgent"] { transport.userAgent = try Self.userAgent(agent) }
  }

  private mutating func readResponseLimits(_ node: ConfigurationNode) throws(ConfigurationError) {
    // The upper ends of the ranges bound the memory for one response; the lower ends let every usual response pass.
    if let limit = node["maxHeadBytes"] {
      transport.responseLimits.maximumHeadBytes = try limit.integer(1024...(1 << 24))
    }
    if let limit = node["maxHeadFields"] {
      transport.responseLimits.maximumHeadFields = try limit.integer(16...65_536)
    }
    if let limit = node["maxInformationalResponses"] {
      transport.responseLimits.maximumInformationalResponses = try limit.integer(0...65_536)
    }
    if let limit = node["maxChunkExtensionBytes"] {
      transport.responseLimits.maximumChunkExtensionBytes = try limit.integer(0...(1 << 24))
    }
  }

  /// Reads the key that chose between Sluice's own transport and libcurl, before libcurl was removed in version 0.1.0.
  private mutating func readEngine(_ node: ConfigurationNode) throws(ConfigurationError) {
    switch try node.string() {
    case "auto", "wire":
      let warning = node.error("the key has no effect since version 0.1.0, which has one transport; leave it out")
      warnings.append(warning.description)
    case "curl":
      throw node.error(
        "\"curl\" is not supported since version 0.1.0: Sluice's own transport carries every request; leave the key out"
      )
    case let text: throw node.error("expected \"auto\" or \"wire\", found \(PlainText.quote(text)); leave the key out")
    }
  }

  private static func userAgent(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let text = try node.string()
    let isPrintable = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    guard isPrintable, !text.hasPrefix(" "), !text.hasSuffix(" ") else {
      throw node.error("expected printable ASCII characters without a space at either end")
    }
    return text
  }

  private static func proxy(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let text = try node.string()
    guard !text.isEmpty else { return text }
    do throws(ProxyFault) { _ = try Proxy(text) } catch { throw node.error(error.reason) }
    return text
  }

  private static let priorKnowledge = "2-prior-knowledge"

  private static func version(_ node: ConfigurationNode) throws(ConfigurationError) -> HTTPVersion {
    let text = try node.string()
    guard let version = HTTPVersion(rawValue: text), version != .http3 else {
      throw node.error("expected \"1.0\", \"1.1\", \"2\" or \"\(priorKnowledge)\", found \(PlainText.quote(text))")
    }
    return version
  }

  private mutating func readTLS(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["ca", "cert", "key", "verify"])
    transport.tls.ca = try node["ca"]?.path()
    transport.tls.certificate = try node["cert"]?.path()
    transport.tls.key = try node["key"]?.path()
    if let key = node["key"], transport.tls.key != nil, transport.tls.certificate == nil {
      throw key.error("a key without \"cert\" has no effect; add the client certificate of this key")
    }
    if let verify = node["verify"] { transport.tls.verify = try verify.bool() }
  }
}
