import SluiceJSON
import SluiceMessages

/// A request of the plugin itself, for ``PluginHost/send(_:onBehalfOf:)``.
public struct CallRequest: Sendable {
  /// The method token (RFC 9110 §9.1), by default `GET`.
  public var method: String
  /// Absolute, `http` or `https`.
  public var url: String
  /// Lines in wire order; names are case-insensitive.
  public var headers: [(name: String, value: String)]
  /// The content, sent as it is. Empty means no body.
  public var body: [UInt8]
  /// The time limit for the whole response; nil means the host's time limit, `transport.timeout` of the configuration.
  public var timeout: Duration?
  /// A longer response is an error; nil means the host's limit.
  public var maximumResponseBytes: Int?

  /// Makes a request, by default a GET without headers and body. Nothing is checked before it is sent.
  public init(
    method: String = "GET", url: String, headers: KeyValuePairs<String, String> = [:], body: [UInt8] = [],
    timeout: Duration? = nil, maximumResponseBytes: Int? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers.map { (name: $0.key, value: $0.value) }
    self.body = body
    self.timeout = timeout
    self.maximumResponseBytes = maximumResponseBytes
  }

  /// The request document.
  var document: JSONValue {
    let document: JSONValue = ["method": JSONValue(method), "url": JSONValue(url), "headers": headerDocument]
    if !body.isEmpty {
      document["body"] = ["base64": JSONValue(String(decoding: Base64.encode(body), as: UTF8.self))]
    }
    return document
  }

  /// The headers by lower-case name; a repeated name has an array of values.
  private var headerDocument: JSONValue {
    let document = JSONValue.object()
    for (name, value) in headers {
      let name = name.lowercased()
      switch document[name] {
      case nil: document[name] = JSONValue(value)
      case let values? where values.isArray: values.append(JSONValue(value))
      case let first?: document[name] = [first, JSONValue(value)]
      }
    }
    return document
  }
}
