/// Options of one request, in place of the engine's settings. Nil keeps the setting.
public struct RequestOptions: Sendable, Hashable {
  /// The order in which requests to one host get a connection while all connections are in use.
  public enum Priority: Int, Sendable, Hashable, CaseIterable {
    case low, normal, high
  }

  /// A client certificate and its key.
  public struct Identity: Sendable, Hashable {
    /// The path of a PEM file.
    public var certificate: String
    /// The path of a PEM file; nil if the file of the certificate contains the key too.
    public var key: String?

    /// Reads no file: the first connection fails with `tls` if a file cannot be read.
    public init(certificate: String, key: String? = nil) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// The maximum time without progress, once the transport sends the request: if no byte of a body is sent or received
  /// and no response comes for this long, the attempt fails with `timeout`. Time in which the caller pauses reading is
  /// not counted. By default there is no such limit.
  public var idleTimeout: Duration?
  /// The time limit for one attempt, in place of `transport.timeout`.
  public var attemptTimeout: Duration?
  /// Whether the time limit of an attempt ends when the head of the response has arrived. The body is then limited only by
  /// ``idleTimeout``.
  package var endsAttemptAtHead = false
  /// The limit for the response body, in place of `transport.maxResponseBytes`.
  public var maximumResponseBytes: Int?
  /// Whether the response body is decoded. If this is false, the body keeps its content coding, and the request does
  /// not ask the server for a coding.
  public var decodesContent = true
  /// Whether the response body is decoded only if a response stage wants to see it. `Content-Encoding` is then removed, and
  /// a strong `ETag` becomes weak, because the decoded body is another representation (RFC 9110 §8.8.1).
  package var decodesOnDemand = false
  /// How many redirects are followed, in place of `redirects.max`; with 0 a redirect is the response.
  public var maximumRedirects: Int?
  /// The maximum number of attempts, in place of `maxAttempts`.
  public var maximumAttempts: Int?
  /// When the engine makes another attempt, in place of `retry`.
  public var retry: RetryPolicy?
  /// Requests of a higher priority get a connection first, but every eighth connection goes to the request that has
  /// waited longest.
  public var priority = Priority.normal
  /// The client certificate that servers get, in place of `transport.tls`. Such requests share connections only with
  /// requests that have the same identity.
  public var identity: Identity?
  /// The path of a Unix socket to which the request and its redirects go, whatever their URLs.
  public var unixSocket: String?

  /// Whether a body of more than 1 MiB is sent over HTTP/1.1 only after a 100 response, or after one second without it.
  /// This lets a server refuse or redirect the request before the body is sent (RFC 9110 §10.1.1). A server that sent
  /// no 100 response in this time is not asked again. If this is false, the body is sent at once.
  public var expectsContinue = true

  /// Options that keep every setting.
  public init() {}
}

extension Request {
  /// Options that apply to this request alone.
  public var options: RequestOptions {
    get { sharedOptions?.value ?? RequestOptions() }
    set { sharedOptions = newValue == RequestOptions() ? nil : SharedValue(newValue) }
  }
}
