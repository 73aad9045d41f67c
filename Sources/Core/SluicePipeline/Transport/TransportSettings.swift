public import SluiceMessages

/// How the transport connects; the `transport` object of a configuration.
public struct TransportSettings: Sendable {
  /// The time limit for one attempt. The transaction enforces it; the transport does not use it.
  public var timeout = Duration.seconds(30)
  /// The time limit until a connection is open: name, TCP, proxy and TLS together.
  public var connectTimeout = Duration.seconds(5)
  /// The number of event loops; each has its own thread and connections.
  public var loops = 1
  /// The maximum number of connections to one origin over all loops; each loop gets an equal share, at least one. Nil
  /// sets no limit. Connections of requests that have a client certificate, a Unix socket or delegates of their own are
  /// counted separately.
  public var maximumConnectionsPerHost: Int?
  /// The highest version of HTTP that is used. ``HTTPVersion/http2`` is offered only over TLS; clear text uses
  /// HTTP/1.1.
  public var httpVersion = HTTPVersion.http2
  /// Whether `http:` servers are assumed to speak HTTP/2, without asking them (RFC 9113 §3.3).
  public var assumesHTTP2 = false
  /// The maximum number of bytes of a request body. A body that is known to be longer fails with
  /// ``ErrorCode/requestTooLarge`` before anything is sent. If this is nil, only bodies that are held have a limit:
  /// bodies in memory, and bodies that a stage wants whole. A file or a stream that is sent unchanged has no limit in
  /// this case.
  public var maximumRequestBytes: Int?
  /// The maximum number of bytes of a response body. A longer body fails with ``ErrorCode/responseTooLarge``. If this
  /// is nil, only collected bodies have a limit, and streamed bodies have none.
  public var maximumResponseBytes: Int?
  /// A longer collected body goes to an unnamed temporary file in `TMPDIR`, or in `/tmp`.
  public var spillBytes = 1_048_576
  /// URL of a proxy (`http`, `https`, `socks4`, `socks4a`, `socks5`, `socks5h`). Nil takes the proxy from the environment as curl
  /// does (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`); with an empty text no proxy is used.
  public var proxy: String?
  /// The path of a Unix socket to which every request goes, independent of its URL, and without a proxy. Nil if there
  /// is no such socket.
  public var unixSocket: String?
  /// By default the system's authorities are trusted, and no client certificate is sent.
  public var tls = TLSSettings()
  /// Whether response bodies are decoded, and `Accept-Encoding` is added to requests that do not have it. The headers
  /// `Content-Encoding` and `Content-Length` stay as received.
  public var decodesContent = true
  /// The value of `User-Agent`, unless the request has this header. With nil or an empty text, none is added.
  public var userAgent: String?
  /// How much of a response is accepted besides its body.
  public var responseLimits = ResponseLimits()
  /// Where and how sockets are connected.
  package var sockets = SocketSettings()
  /// An HTTP/2 connection that was silent for this long is tested with a PING before its next request.
  package var trustedSilence = Duration.seconds(10)
  /// How long the answer to that PING may take.
  package var pingLimit = Duration.seconds(2)
  /// The names of these settings in errors.
  package var names = SettingNames()
  /// Called with every head that the transport writes for a request whose options have
  /// ``SluicePipeline/TransferOptions/tellsHead``. This includes heads for proxies. Nil costs nothing. Called on the
  /// loop: it must not block. The head contains secrets, and the fields that the transport adds.
  package var onSentHead: (@Sendable ([UInt8]) -> Void)?

  /// The defaults of a configuration without `transport`, except that no `User-Agent` is sent.
  package init() {}

  /// The default limit for a body that is held, in memory or in a file of the engine.
  package static let defaultHeldBytes = 67_108_864

  /// The limit for request bodies in memory, and for request bodies that a stage wants whole: 64 MiB by default.
  package var maximumHeldRequestBytes: Int { maximumRequestBytes ?? Self.defaultHeldBytes }
  /// The limit for files and streams that are sent unchanged: none by default.
  package var maximumStreamedRequestBytes: Int { maximumRequestBytes ?? .max }
  /// The limit for response bodies that are collected: 64 MiB by default.
  package var maximumHeldResponseBytes: Int { maximumResponseBytes ?? Self.defaultHeldBytes }
  /// The limit for response bodies that go to a sink: none by default.
  package var maximumStreamedResponseBytes: Int { maximumResponseBytes ?? .max }

  /// The limit for a request body, which depends on whether the body is in memory, a file or a stream.
  package func maxBytes(of body: Body) -> Int {
    switch body {
    case .empty, .bytes: maximumHeldRequestBytes
    case .file, .stream: maximumStreamedRequestBytes
    }
  }
}

/// How much of a response is accepted besides its body; more fails with ``ErrorCode/invalidResponse``.
public struct ResponseLimits: Sendable, Hashable {
  /// The maximum number of bytes of one head, including its line ends. It also applies to the trailers of one response.
  public var maximumHeadBytes = 262_144
  /// The maximum number of fields of one head. It also applies to the trailers of one response.
  public var maximumHeadFields = 4096
  /// The maximum number of informational responses (1xx) before the final response.
  public var maximumInformationalResponses = 100
  /// The maximum number of bytes of all chunk extensions of one body.
  public var maximumChunkExtensionBytes = 16_384

  /// The defaults of a configuration.
  package init() {}
}

/// The trusted authorities and the client's own certificate; paths of PEM files.
public struct TLSSettings: Sendable, Hashable {
  /// Certificates of the authorities to trust instead of the system's.
  public var ca: String?
  /// The client certificate; nil if none is sent.
  public var certificate: String?
  /// The private key of ``certificate``; nil if that file contains it too.
  public var key: String?
  /// Whether the server's certificate is verified. If this is false, every certificate is accepted; use this only for
  /// tests.
  public var verify = true
  /// The password of ``key``; nil if it has none.
  package var password: String?
  /// The versions of TLS that are spoken.
  package var versions = TLSVersion.tls12...TLSVersion.tls13
  /// OpenSSL's lists of ciphers; nil for its default.
  package var ciphers = CipherLists()
  /// SHA-256 hashes of the public keys (SubjectPublicKeyInfo) that the server may have. They are checked even if
  /// ``verify`` is false. If the set is empty, any key is accepted.
  package var keyHashes: Set<[UInt8]> = []

  /// The paths of all files.
  package var files: [String] { [ca, certificate, key].compactMap(\.self) }

  /// Leaves out all files, for a check that must not take from a pipe what a later command needs.
  package mutating func leaveOutFiles() { (ca, certificate, key) = (nil, nil, nil) }

  /// Reads no file. When an engine starts, it refuses a file that cannot be read, and a pipe or a device, for which its
  /// loops would have to wait.
  package init(ca: String? = nil, certificate: String? = nil, key: String? = nil, verify: Bool = true) {
    self.ca = ca
    self.certificate = certificate
    self.key = key
    self.verify = verify
  }
}

/// A version of TLS that can be spoken.
package enum TLSVersion: Int, Sendable, Comparable {
  case tls12, tls13

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Ciphers by their names in OpenSSL, with colons between them.
package struct CipherLists: Sendable, Hashable {
  /// Up to TLS 1.2.
  package var tls12: String?
  /// TLS 1.3.
  package var tls13: String?

  package init() {}
}
