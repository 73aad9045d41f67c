/// The kind of an error, for programs. Compare codes, not messages.
///
/// An extensible set: plugins fail with codes of their own, and later versions add more. Codes can be written as text:
/// `error.code == "quota_exceeded"`.
public struct ErrorCode: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The code in results, events and metrics: lower-case words joined by `_`, such as `invalid_url`.
  public let rawValue: String

  /// Takes any text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Takes any text.
  public init(stringLiteral value: String) { rawValue = value }

  /// The same as ``rawValue``.
  public var description: String { rawValue }
}

// Messages that cannot be used.
extension ErrorCode {
  /// A text that is not an absolute URL, or that two readers could understand differently. Also an invalid host
  /// pattern.
  public static let invalidURL = Self(rawValue: "invalid_url")
  /// An absolute URL whose scheme is neither `http` nor `https`.
  public static let unsupportedScheme = Self(rawValue: "unsupported_scheme")
  /// A method that is not a token, or is `CONNECT`.
  public static let invalidMethod = Self(rawValue: "invalid_method")
  /// A field name or value that breaks RFC 9110 §5, or a wrong `Host`.
  public static let invalidHeader = Self(rawValue: "invalid_header")
  /// A body that is not accepted, for instance one larger than `transport.maxRequestBytes`.
  public static let invalidBody = Self(rawValue: "invalid_body")
  /// Text that is not JSON, or JSON that is not the expected document.
  public static let invalidDocument = Self(rawValue: "invalid_document")
}

// Hops that got no complete response.
extension ErrorCode {
  /// The name of the host has no address, or the lookup failed.
  public static let nameLookup = Self(rawValue: "dns")
  /// No connection to the server was made.
  public static let connect = Self(rawValue: "connect")
  /// TLS failed: the certificate, the versions, or the settings.
  public static let tls = Self(rawValue: "tls")
  /// The proxy refused, or could not be reached.
  public static let proxy = Self(rawValue: "proxy")
  /// The attempt took longer than its time limit.
  public static let timeout = Self(rawValue: "timeout")
  /// Connecting took longer than the time limit for it.
  public static let connectTimeout = Self(rawValue: "connect_timeout")
  /// The peer closed or reset the connection before the response was complete.
  public static let connectionLost = Self(rawValue: "connection_lost")
  /// The received bytes are not HTTP.
  public static let invalidResponse = Self(rawValue: "invalid_response")
  /// The request body is larger than `transport.maxRequestBytes`.
  public static let requestTooLarge = Self(rawValue: "request_too_large")
  /// The response body is larger than `transport.maxResponseBytes`.
  public static let responseTooLarge = Self(rawValue: "response_too_large")
  /// The content coding could not be undone.
  public static let decoding = Self(rawValue: "decoding")
  /// The caller cancelled the transaction, or its sink wants no more of the body. If the error names a stage, this
  /// stage has cancelled the transaction.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The connection had been kept after an earlier request, and broke before the response arrived.
  public static let resent = Self(rawValue: "resent")
  /// The server states that it did not process the request (RFC 9113 §8.7).
  public static let notProcessed = Self(rawValue: "not_processed")
  /// The content of a body could not be read or produced, or a collected body could not be written.
  public static let bodyFile = Self(rawValue: "body_file")
  /// No room for a file: the disk, the quota or the limit of the file size is reached.
  public static let diskFull = Self(rawValue: "disk_full")
  /// No descriptor, no memory or no thread was available.
  public static let resources = Self(rawValue: "resources")
  /// A function of an event loop was called on a thread that must not call it.
  public static let wrongThread = Self(rawValue: "wrong_thread")
  /// Another failure of the transport.
  public static let transport = Self(rawValue: "transport")
}

// Transactions that were ended.
extension ErrorCode {
  /// The transaction's deadline passed.
  public static let deadline = Self(rawValue: "deadline")
  /// The receiver of the response body could not take the body, for instance because the disk is full, the reader has
  /// ended, or two tasks read one body at the same time.
  public static let sink = Self(rawValue: "sink")
  /// The response is an HTTP error, or not among the accepted statuses. If a stage answered in place of the server, the
  /// error names this stage.
  public static let status = Self(rawValue: "http_status")
  /// The caller's own validation of the response refused it.
  public static let response = Self(rawValue: "response")
  /// The body does not have the form from which the payload is made.
  public static let extraction = Self(rawValue: "extraction")
  /// The payload fails a check.
  public static let payload = Self(rawValue: "payload")
  /// A stage did not resume within its deadline.
  public static let stageTimeout = Self(rawValue: "stage_timeout")
  /// A stage broke a rule of the ABI.
  public static let stageFault = Self(rawValue: "stage_fault")
  /// A stage is switched off, because its build was revoked.
  public static let pluginDisabled = Self(rawValue: "plugin_disabled")
  /// A stage asked for another attempt, and no attempt was left.
  public static let retriesExhausted = Self(rawValue: "retries_exhausted")
  /// The request would have to be sent again, but its body can be produced only once.
  public static let bodyNotReplayable = Self(rawValue: "body_not_replayable")
  /// A redirect led back to a request of the same attempt.
  public static let redirectLoop = Self(rawValue: "redirect_loop")
  /// More redirects than `redirects.max`.
  public static let tooManyRedirects = Self(rawValue: "too_many_redirects")
  /// A redirect has a `Location` that cannot be followed.
  public static let redirectRefused = Self(rawValue: "redirect_refused")
  /// The engine was shut down before the transaction began or before it was done.
  public static let shutdown = Self(rawValue: "shutdown")
  /// The engine has reached its limit of transactions in flight.
  public static let tooManyTransactions = Self(rawValue: "too_many_transactions")
  /// The engine has reached its limit of BLOCKING calls under way.
  public static let tooManyBlockingCalls = Self(rawValue: "too_many_blocking_calls")
  /// The loop of the transaction did not return from a stage, and another thread gave the result.
  public static let stalled = Self(rawValue: "stalled")
}
