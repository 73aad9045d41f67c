import CCurl
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Turns libcurl's result into an error that says what failed, why, and what to do.
struct CurlFailure {
  let code: CURLcode
  let url: HTTPURL
  /// Libcurl's own message.
  let detail: String
  let socketError: Int32
  let hasIssued: Bool
  let hasStatus: Bool
  let hasHead: Bool
  /// Whether the request was sent over HTTP/2.
  let isHTTP2: Bool
  let settings: TransportSettings
  /// Host and port of the proxy; nil if it is not certain that the request goes through a proxy.
  let proxy: String?
  /// The status of the proxy's answer to CONNECT; 0 if there was no answer.
  let proxyStatus: Int

  var error: TransportError {
    if socketError != 0, !hasIssued {
      let reason = SystemError.text(socketError) + SystemError.advice(socketError)
      return make(.resources, "no socket: \(reason)")
    }
    if proxyStatus != 0, !(200..<300).contains(proxyStatus), !hasIssued {
      return make(.proxy, "the proxy refused the connection with status \(proxyStatus)\(names.proxyAdvice)")
    }
    switch code {
    // Libcurl reports success if the connection closes in the middle of the head.
    case CURLE_OK where isHTTP2: return brokenHTTP2
    case CURLE_OK where hasStatus: return make(.connectionLost, "the connection closed in the middle of the head")
    case CURLE_OK: return notHTTP
    case CURLE_COULDNT_RESOLVE_HOST: return make(.nameLookup, words("the name has no address"))
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return make(.proxy, words("the proxy failed") + names.proxyAdvice)
    case CURLE_COULDNT_CONNECT where proxy != nil:
      return make(.proxy, "no connection to the proxy \(proxy ?? ""): \(words("no connection"))\(names.proxyAdvice)")
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
      return make(.connect, words("no connection") + "; check host and port, and that the server runs")
    case CURLE_OPERATION_TIMEDOUT: return timeout
    case CURLE_OUT_OF_MEMORY: return hasIssued ? tooLong : make(.resources, "libcurl is out of memory")
    case CURLE_BAD_CONTENT_ENCODING:
      return make(.decoding, words("the body does not decode as its Content-Encoding says"))
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
      return hasStatus ? notValid : notHTTP
    case CURLE_BAD_FUNCTION_ARGUMENT where hasStatus: return notValid
    case CURLE_HTTP2, CURLE_HTTP2_STREAM: return streamFailure
    case CURLE_GOT_NOTHING where isHTTP2: return brokenHTTP2
    case CURLE_SEND_FAIL_REWIND:
      return make(
        .resent,
        "the connection broke, and libcurl was about to send the request again, but its body can be produced only"
          + " once; it is not known whether the server executed it")
    case CURLE_READ_ERROR:
      return make(.bodyFile, words("the request body could not be read"))
    default: return Self.tlsCodes.contains(code.rawValue) ? tls : lost
    }
  }

  private var timeout: TransportError {
    hasIssued
      ? make(.timeout, words("timed out"))
      : make(
        .connectTimeout,
        "no connection within \(settings.connectTimeout) (\(names.connectTimeout)); \(words("timed out"))")
  }

  /// After the request was sent, libcurl reports lack of memory for a line that is longer than its limits.
  private var tooLong: TransportError {
    let part = hasHead ? "a trailer line of more than 4096 bytes" : "a header line of more than 102400 bytes"
    return make(
      .invalidResponse, "the response is not valid HTTP: \(part), or no memory for it; only the server can fix it")
  }

  private var notValid: TransportError {
    make(.invalidResponse, "the response is not valid HTTP: \(words("an invalid head")); only the server can fix it")
  }

  private var notHTTP: TransportError {
    make(
      .invalidResponse,
      "the answer is not HTTP: \(words("the response has no head")); check that the URL leads to an HTTP server")
  }

  var lost: TransportError {
    // In TLS 1.3, a server checks the client certificate after the handshake, so a refusal looks like a lost
    // connection.
    if let refusal = clientCertificateRefusal { return refusal }
    if Self.invalidWords.contains(where: { detail.contains($0) }) {
      return make(.invalidResponse, "the response is not valid HTTP: \(detail); only the server can fix it")
    }
    let isConnectionGone = Self.lostCodes.contains(code.rawValue)
    guard isConnectionGone else { return make(.transport, words("failed")) }
    guard hasIssued else { return make(.connect, words("the connection broke while it was being made")) }
    return make(
      .connectionLost,
      "the connection broke \(moment): \(words("closed by the peer")); the server's log might say why"
    ).with(code == CURLE_GOT_NOTHING ? .noResponse : hasHead ? .partialResponse : nil)
  }

  /// A phrase for error messages that says when the connection broke.
  var moment: String { hasHead ? "in the middle of the response" : "before the response" }

  func make(_ code: ErrorCode, _ message: String) -> TransportError {
    TransportError(code, message, to: url, isBeforeSending: !hasIssued)
  }

  var names: SettingNames { settings.names }

  func words(_ otherwise: String) -> String {
    // Libcurl's message is replaced, because it quotes the URL of the proxy with its password.
    if detail.hasPrefix("Unsupported proxy syntax") { return "the URL of the proxy is not valid" }
    if !detail.isEmpty { return detail }
    guard let text = curl_easy_strerror(code) else { return otherwise }
    return "\(otherwise) (\(String(cString: text)))"
  }

  private static let tlsCodes: Set<UInt32> = Set(
    [
      CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED,
      CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
    ].map(\.rawValue))

  private static let lostCodes: Set<UInt32> = Set(
    [
      CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
      CURLE_UPLOAD_FAILED,
    ].map(\.rawValue))

  /// Libcurl reports these faults of the peer with the code of a broken connection.
  private static let invalidWords = [
    "chunk", "Invalid Content-Length", "Too large response headers", "Nul byte", "header",
  ]
}
