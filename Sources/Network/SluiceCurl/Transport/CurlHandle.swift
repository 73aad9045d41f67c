import CCurl
import CTLS
import SluiceContentCoding
import SluiceMessages
import SluicePipeline
import SluiceTransport

/// An easy handle that stays configured from one request to the next: only options that differ are set again.
final class CurlHandle {
  /// How libcurl is told to send a body.
  private enum Shape {
    case bodyless, emptyBody, bytes, upload
  }

  let easy: UnsafeMutableRawPointer
  let multi: CurlMulti
  /// The transfer that has the handle; nil in the pool. The transfer is not retained. This is safe because the
  /// transport retains a transfer until it has ended, and takes its handle away before that.
  @exclusivity(unchecked) var borrowedTransfer: Unmanaged<CurlTransfer>?
  @exclusivity(unchecked) var route: Route?
  /// The error number if a socket could not be created; otherwise 0.
  var socketError: Int32 = 0
  /// Sockets that were opened for this request.
  @exclusivity(unchecked) var opened: [Int32] = []
  /// Whether the options `CURLOPT_FRESH_CONNECT` and `CURLOPT_FORBID_REUSE` are set. They last for one request.
  private var isFresh = false
  private var closes = false
  /// The sizes of the last response, used to size the arrays of the next one.
  var expectedFields = 8
  var expectedBytes = 256

  /// The URL of the last request. It is compared by identity first, so a repeated request costs only that comparison.
  private(set) var url: HTTPURL?
  /// The total time of the last request, in microseconds. Libcurl reports the times of that request until it begins the
  /// next request.
  private(set) var previousTotal = 0
  /// The parsed URL. With it, libcurl does not have to parse and format the URL for each request.
  private let parsedURL: OpaquePointer
  private var isParsed = false
  private let errorText: UnsafeMutablePointer<CChar>
  @exclusivity(unchecked) private var list = HeaderList()
  private var scheme: Origin.Scheme?
  private var method = "GET"
  private var shape = Shape.bodyless
  @exclusivity(unchecked) private(set) var bodyBytes: [UInt8] = []
  private var suppressed: HeaderList.Suppressed = []
  @exclusivity(unchecked) private var instruction: ResolveInstruction?
  let settings: TransportSettings
  private let proxy: ProxyChoice
  /// Whether the handle was added to ``StreamEvents``.
  private var isWatched = false
  private let defaults: HeaderList.Defaults
  private var omittedDefaults: DefaultFields = []

  /// Whether the handle was created with small buffers, because there were very many transfers.
  let isSmall: Bool

  init(
    _ multi: CurlMulti, _ settings: TransportSettings, _ proxy: ProxyChoice, isSmall: Bool
  ) throws(TransportError) {
    guard let easy = curl_easy_init(), let parsedURL = curl_url() else {
      throw TransportError(.resources, "libcurl: no memory for another transfer", isBeforeSending: true)
    }
    self.easy = easy
    self.parsedURL = parsedURL
    self.multi = multi
    self.settings = settings
    self.proxy = proxy
    self.isSmall = isSmall
    defaults = HeaderList.Defaults(
      codings: settings.decodesContent ? ContentCoding.acceptEncoding : nil,
      agent: settings.userAgent.flatMap { $0.isEmpty ? nil : $0 })
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    configure(settings, proxy)
    setCallbacks()
    if settings.onSentHead != nil { setHeadCallback() }
  }

  deinit {
    if isWatched { StreamEvents.remove(easy) }
    curl_easy_cleanup(easy)
    curl_url_cleanup(parsedURL)
    errorText.deallocate()
  }

  var transfer: CurlTransfer? { borrowedTransfer?.takeUnretainedValue() }

  /// Called when libcurl has sent a head or a part of a head.
  func didSend(_ head: [UInt8]) {
    if transfer?.options.tellsHead == true { settings.onSentHead?(head) }
  }

  /// Libcurl's own message for the last failure; empty if there was none.
  var errorMessage: String { String(cString: errorText) }

  /// Sets the options in which this request differs from the last one.
  ///
  /// - Parameter request: is not changed; it is `inout` because a copy would usually cost more than the rest of this
  ///   function.
  func aim(at request: inout Request, upload: Upload?) {
    errorText[0] = 0
    socketError = 0
    if url != request.url { setURL(request.url) }
    let shape = Self.shape(of: &request)
    if shape != self.shape || method != request.method { setShape(shape, request.method) }
    suppressed = []
    switch shape {
    case .bodyless: break
    case .emptyBody: suppressed = .contentType
    case .bytes: setBytes(request.body)
    case .upload:
      sluice_easy_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(upload?.byteCount ?? -1))
      suppressed = .expect
    }
    omittedDefaults = request.omittedDefaults
    if omittedDefaults.contains(.accept) { suppressed.insert(.accept) }
  }

  /// Gives libcurl the addresses of the host. They apply to all handles of the loop.
  func tell(_ instruction: ResolveInstruction) {
    self.instruction = instruction
    sluice_easy_set_list(easy, CURLOPT_RESOLVE, instruction.list)
  }

  /// Makes libcurl open a new connection for this request.
  func useFreshConnection() {
    isFresh = true
    sluice_easy_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
  }

  /// Whether OpenSSL has decrypted bytes that libcurl has not read yet. Call it in a callback, because only then does
  /// the handle have a connection.
  var hasUnreadTLS: Bool { sluice_easy_get_openssl(easy).map { SSL_pending(OpaquePointer($0)) > 0 } ?? false }

  /// Makes libcurl close the connection after this request.
  func closeConnection() {
    closes = true
    sluice_easy_set_long(easy, CURLOPT_FORBID_REUSE, 1)
  }

  /// Gives libcurl the header lines. This is allowed until libcurl builds the request, also inside the pre-request
  /// callback.
  func setHeaders(_ headers: borrowing HeaderFields) {
    let defaults = omittedDefaults.isEmpty ? defaults : defaults.without(omittedDefaults)
    let lines = list.fill(headers, suppressing: suppressed, defaults: defaults)
    sluice_easy_set_list(easy, CURLOPT_HTTPHEADER, lines)
  }

  /// Releases everything that belonged to the last request.
  func clear() {
    borrowedTransfer = nil
    previousTotal = totalTime
    sluice_easy_set_list(easy, CURLOPT_HTTPHEADER, nil)
    list.clear()
    if !bodyBytes.isEmpty { bodyBytes = [] }
    if instruction != nil {
      sluice_easy_set_list(easy, CURLOPT_RESOLVE, nil)
      instruction = nil
    }
    if !opened.isEmpty { opened = [] }
    if isFresh { sluice_easy_set_long(easy, CURLOPT_FRESH_CONNECT, 0) }
    if closes { sluice_easy_set_long(easy, CURLOPT_FORBID_REUSE, 0) }
    isFresh = false
    closes = false
  }

  private static func shape(of request: inout Request) -> Shape {
    // A response to HEAD has no body, and libcurl sends no body with a HEAD request either.
    if request.method == "HEAD" { return .bodyless }
    switch request.body {
    case .empty: return Request.expectsBody(request.method) ? .emptyBody : .bodyless
    case .bytes(let bytes): return bytes.isEmpty && !Request.expectsBody(request.method) ? .bodyless : .bytes
    case .file, .stream: return .upload
    }
  }

  private func setShape(_ shape: Shape, _ method: String) {
    self.shape = shape
    self.method = method
    // This option also resets the options of every other shape.
    sluice_easy_set_long(easy, CURLOPT_HTTPGET, 1)
    var own = "GET"
    switch shape {
    case .bodyless where method == "HEAD":
      sluice_easy_set_long(easy, CURLOPT_NOBODY, 1)
      own = "HEAD"
    case .bodyless: break
    case .emptyBody:
      // The size must be set first, because libcurl copies as many bytes as the current size, which could be that of
      // the last request.
      sluice_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, 0)
      sluice_easy_set_text(easy, CURLOPT_COPYPOSTFIELDS, "")
      own = "POST"
    case .bytes:
      sluice_easy_set_long(easy, CURLOPT_POST, 1)
      own = "POST"
    case .upload:
      sluice_easy_set_long(easy, CURLOPT_UPLOAD, 1)
      own = "PUT"
    }
    sluice_easy_set_text(easy, CURLOPT_CUSTOMREQUEST, method == own ? nil : method)
  }

  /// Gives libcurl a pointer to the bytes. The handle keeps them unchanged while libcurl may read them.
  private func setBytes(_ body: Body) {
    guard case .bytes(let bytes) = body else { return }
    bodyBytes = bytes
    sluice_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bodyBytes.count))
    let start = bodyBytes.withUnsafeBytes { $0.baseAddress }
    sluice_easy_set_pointer(easy, CURLOPT_POSTFIELDS, start)
    // For a body of at least 1 MiB, libcurl would send `Expect: 100-continue`.
    suppressed = bodyBytes.count >= 1 << 20 ? [.contentType, .expect] : .contentType
  }

  private func setURL(_ url: HTTPURL) {
    self.url = url
    route = nil
    // User and password are sent as a header that stages see, not through libcurl's options.
    let text = url.userInfo.map { Self.remove($0, from: url.string) } ?? url.string
    sluice_easy_set_text(easy, CURLOPT_URL, text)
    isParsed = curl_url_set(parsedURL, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK
    setURLParts(url)
  }

  private func setURLParts(_ url: HTTPURL) {
    // If the URL cannot be parsed, the transfer parses it again and fails with the reason.
    sluice_easy_set_pointer(easy, CURLOPT_CURLU, isParsed ? UnsafeRawPointer(parsedURL) : nil)
    if scheme != url.origin.scheme { setVersion(url.origin.scheme) }
  }

  private static func remove(_ userInfo: String, from url: String) -> String {
    guard let range = url.firstRange(of: "//\(userInfo)@") else { return url }
    return url[..<range.lowerBound] + "//" + url[range.upperBound...]
  }

  private func setVersion(_ scheme: Origin.Scheme) {
    self.scheme = scheme
    setTrust(scheme)
    let offersHTTP2 = settings.httpVersion == .http2 && scheme == .https && CurlLibrary.speaksHTTP2
    if offersHTTP2, !isWatched {
      StreamEvents.add(easy)
      isWatched = true
    }
    let version = offersHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
    sluice_easy_set_long(
      easy, CURLOPT_HTTP_VERSION, settings.httpVersion == .http10 ? CURL_HTTP_VERSION_1_0 : version)
    // Without HTTP/2, connections are not shared, so there is no reason to wait for a connection that is being
    // established.
    sluice_easy_set_long(easy, CURLOPT_PIPEWAIT, offersHTTP2 ? 1 : 0)
  }

  private func configure(_ settings: TransportSettings, _ proxy: ProxyChoice) {
    sluice_easy_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    sluice_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    sluice_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
    sluice_easy_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    sluice_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    sluice_easy_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
    sluice_easy_set_long(easy, CURLOPT_PATH_AS_IS, 1)
    sluice_easy_set_long(easy, CURLOPT_TCP_NODELAY, 1)
    sluice_easy_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    sluice_easy_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    sluice_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectTimeout))
    // Each handle in flight has its own buffers.
    sluice_easy_set_long(easy, CURLOPT_BUFFERSIZE, isSmall ? 2048 : 16_384)
    sluice_easy_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, isSmall ? 16_384 : 65_536)
    // Libcurl 7.88 accepts a truncated compressed body as complete, so Sluice decodes bodies itself.
    sluice_easy_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    if let option = proxy.option { sluice_easy_set_text(easy, CURLOPT_PROXY, option) }
    // Without this, libcurl would read `no_proxy` from the environment before each request, although there is no proxy.
    if proxy.option == "" {
      sluice_easy_set_text(easy, CURLOPT_NOPROXY, "*")
      // Without a proxy, there is no proxy to verify. If these options were set, libcurl would copy the names of the
      // trusted files for each request (see `setTrust`).
      sluice_easy_set_text(easy, CURLOPT_PROXY_CAPATH, nil)
      sluice_easy_set_text(easy, CURLOPT_PROXY_CAINFO, nil)
    }
    if let path = settings.unixSocket { sluice_easy_set_text(easy, CURLOPT_UNIX_SOCKET_PATH, path) }
    configure(settings.tls)
  }

  /// Sets the trusted certificates only for https, because libcurl copies the names of their files for each request.
  /// For http no server is verified, so the copies would have no use.
  private func setTrust(_ scheme: Origin.Scheme) {
    let isSecure = scheme == .https
    let defaults = CurlLibrary.authorities
    sluice_easy_set_text(easy, CURLOPT_CAPATH, isSecure ? defaults.folder : nil)
    if let ca = settings.tls.ca, isSecure {
      sluice_easy_set_text(easy, CURLOPT_CAINFO, ca)
    } else {
      sluice_easy_set_text(easy, CURLOPT_CAINFO, isSecure ? defaults.file : nil)
    }
  }

  private func configure(_ tls: TLSSettings) {
    if let certificate = tls.certificate { sluice_easy_set_text(easy, CURLOPT_SSLCERT, certificate) }
    if let key = tls.key { sluice_easy_set_text(easy, CURLOPT_SSLKEY, key) }
    // Without a password, OpenSSL would ask for it on the terminal, and block the loop while it waits.
    sluice_easy_set_text(easy, CURLOPT_KEYPASSWD, tls.password ?? "")
    sluice_easy_set_long(easy, CURLOPT_SSLVERSION, tls.curlVersions)
    if let ciphers = tls.ciphers.tls12 { sluice_easy_set_text(easy, CURLOPT_SSL_CIPHER_LIST, ciphers) }
    if let ciphers = tls.ciphers.tls13 { sluice_easy_set_text(easy, CURLOPT_TLS13_CIPHERS, ciphers) }
    if !tls.keyHashes.isEmpty { sluice_easy_set_text(easy, CURLOPT_PINNEDPUBLICKEY, tls.curlKeyHashes) }
    guard !tls.verify else { return }
    sluice_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
    sluice_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    max(1, Int(clamping: duration.nanoseconds / 1_000_000))
  }
}
