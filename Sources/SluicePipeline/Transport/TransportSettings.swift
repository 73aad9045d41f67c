public import SluiceMessages

/// How the transport connects; the `transport` object of a configuration.
public struct TransportSettings: Sendable {
  /// Bounds one attempt. The driver enforces it; the transport only carries it.
  public var timeout = Duration.seconds(30)
  /// Bounds the time until a connection is open: name, TCP, proxy and TLS together.
  public var connectTimeout = Duration.seconds(5)
  /// Event loops, each with a thread and connections of its own.
  public var loops = 1
  /// Connections to one origin over all loops; each loop gets an equal share, at least one. Nil sets no limit.
  public var maximumConnectionsPerHost: Int?
  /// The highest version spoken. ``HTTPVersion/http2`` is offered over TLS alone; clear text stays with HTTP/1.1.
  public var httpVersion = HTTPVersion.http2
  /// A request body that is known to be longer fails with ``TransportError/Code/requestTooLarge`` before anything is
  /// sent. Nil bounds what is held: bodies in memory, and those that a stage wants whole; a file or a stream that goes out
  /// as it is has no limit then.
  public var maximumRequestBytes: Int?
  /// A longer response body fails with ``TransportError/Code/responseTooLarge``. Nil bounds bodies that are collected; one
  /// that is streamed has no limit then.
  public var maximumResponseBytes: Int?
  /// A collected body of more bytes goes to a temporary file without a name in `TMPDIR`, or `/tmp`.
  public var spillBytes = 1_048_576
  /// URL of a proxy (`http`, `https`, `socks4`, `socks5`, `socks5h`). Nil takes it from the environment as curl does
  /// (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), empty goes direct always.
  public var proxy: String?
  /// The path of a Unix socket that every request goes to, whatever its URL says, and no proxy. Nil for none.
  public var unixSocket: String?
  /// By default the system's authorities are trusted, and no client certificate is shown.
  public var tls = TLSSettings()
  /// Whether `Accept-Encoding` is sent, unless the request has one, and bodies are decoded. The headers
  /// `Content-Encoding` and `Content-Length` stay as received.
  public var decodesContent = true
  /// The value of `User-Agent`, unless the request has one; nil or empty sends none.
  public var userAgent: String?
  /// What errors call these settings.
  package var names = SettingNames()
  /// Called with every request head as it is written, those to proxies included, for requests whose options say
  /// ``SluicePipeline/TransferOptions/tellsHead``; nil costs nothing. On the loop, from inside libcurl: it must not
  /// block. The head contains secrets, and what libcurl adds.
  public var onSentHead: (@Sendable ([UInt8]) -> Void)?

  /// The defaults of a configuration without `transport`, but without a `User-Agent`.
  public init() {}

  /// Of a body that is held, in memory or in a file of the engine's own, where nothing else is set.
  package static let defaultHeldBytes = 67_108_864

  /// The limit for request bodies in memory, and for those that a stage wants whole: 64 MiB by default.
  public var maximumHeldRequestBytes: Int { maximumRequestBytes ?? Self.defaultHeldBytes }
  /// The limit for files and streams that go out as they are: none by default.
  public var maximumStreamedRequestBytes: Int { maximumRequestBytes ?? .max }
  /// The limit for response bodies that are collected: 64 MiB by default.
  public var maximumHeldResponseBytes: Int { maximumResponseBytes ?? Self.defaultHeldBytes }
  /// The limit for response bodies that go to a sink: none by default.
  public var maximumStreamedResponseBytes: Int { maximumResponseBytes ?? .max }

  /// What a request body may have that goes out as it is now.
  package func maxBytes(of body: Body) -> Int {
    switch body {
    case .empty, .bytes: maximumHeldRequestBytes
    case .file, .stream: maximumStreamedRequestBytes
    }
  }
}

/// Whom to trust, and how to show who we are; paths of PEM files.
public struct TLSSettings: Sendable, Hashable {
  /// Certificates of the authorities to trust instead of the system's.
  public var ca: String?
  /// The client certificate; nil shows none.
  public var certificate: String?
  /// The private key of ``certificate``; nil if that file contains it too.
  public var key: String?
  /// False accepts every certificate: for tests alone.
  public var verify = true

  /// Reads no file. An engine refuses a file that cannot be read when it starts.
  public init(ca: String? = nil, certificate: String? = nil, key: String? = nil, verify: Bool = true) {
    self.ca = ca
    self.certificate = certificate
    self.key = key
    self.verify = verify
  }
}
