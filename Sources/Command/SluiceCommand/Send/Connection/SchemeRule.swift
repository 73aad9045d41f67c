import Sluice
import SluiceMessages
import SluicePipeline

/// `--proto` and `--proto-redir`: the schemes that are allowed for requests, and for redirects.
final class SchemeRule: Interceptor, Tracer {
  let capabilities: StageCapabilities = [.issue, .redirect]
  let interests = TraceInterests()
  /// The URL of the first hop.
  private final class Beginning {
    let url: HTTPURL

    init(_ url: HTTPURL) { self.url = url }
  }

  private let first: Set<Origin.Scheme>
  private let redirected: Set<Origin.Scheme>

  /// Returns nil if neither option is given.
  static func make(_ arguments: ParsedArguments) throws(CommandError) -> SchemeRule? {
    guard arguments.has("proto") || arguments.has("proto-redir") else { return nil }
    let first = try schemes(arguments["proto"], "proto")
    return SchemeRule(first, try schemes(arguments["proto-redir"], "proto-redir").intersection(first))
  }

  private init(_ first: Set<Origin.Scheme>, _ redirected: Set<Origin.Scheme>) {
    (self.first, self.redirected) = (first, redirected)
  }

  func append(to configuration: inout Configuration) {
    configuration.addStage("send --proto", StageCode(direct: self))
  }

  /// Refuses a URL of the arguments, before anything is sent.
  func check(_ url: HTTPURL) throws(CommandError) {
    guard !first.contains(url.origin.scheme) else { return }
    let failure = Self.failure(url.origin.scheme)
    let shown = PlainText.quote(Redactor().url(url.string))
    throw CommandError(.failed, "send: \(failure.code): \(shown): \(failure.message)")
  }

  /// Refuses the target of a redirect, before a connection to it is made.
  func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict {
    let scheme = redirect.url.origin.scheme
    return redirected.contains(scheme) ? .proceed : .fail(Self.failure(scheme))
  }

  /// Refuses a scheme that a stage has put in place of the given one.
  func interceptIssue(_ exchange: Exchange) -> Verdict {
    let url = exchange.requestForms.native.url
    let scheme = url.origin.scheme
    if exchange.hop == 0 { exchange.attachments[self] = Beginning(url) }
    // The URLs are compared, and not the numbers of the hops: the answer to a challenge is also a further hop, but it
    // is not a redirect.
    let isRedirected = (exchange.attachments[self] as? Beginning)?.url != url
    let allowed = isRedirected ? redirected : first
    guard !allowed.contains(scheme) else { return .proceed }
    return .fail(Self.failure(scheme))
  }

  private static func failure(_ scheme: Origin.Scheme) -> StageFailure {
    StageFailure(code: .unsupportedScheme, message: "\(scheme) is not allowed by --proto or --proto-redir")
  }

  func record(_ event: TraceEvent) {}

  /// The words that curl knows. Other words are spelling mistakes, which must not widen what is allowed.
  private static let known: Set<String> = [
    "all", "dict", "file", "ftp", "ftps", "gopher", "gophers", "http", "https", "imap", "imaps", "ipfs", "ipns", "ldap",
    "ldaps", "mqtt", "mqtts", "pop3", "pop3s", "rtmp", "rtmpe", "rtmps", "rtmpt", "rtmpte", "rtmpts", "rtsp", "scp",
    "sftp", "smb", "smbs", "smtp", "smtps", "telnet", "tftp", "ws", "wss",
  ]

  /// A list of schemes separated by commas, as in curl: `+` or no sign allows a scheme, `-` forbids it, and `=` allows
  /// only this scheme.
  private static func schemes(_ text: String?, _ option: String) throws(CommandError) -> Set<Origin.Scheme> {
    var allowed: Set<Origin.Scheme> = [.http, .https]
    let words = text?.split(separator: ",")
    // An empty list would allow everything, for example where the variable of a script is not set.
    guard words?.isEmpty != true else {
      throw CommandError(.usage, "send: --\(option): the list is empty; name http or https, as in =https")
    }
    for word in words ?? [] {
      let sign = word.first.flatMap { "+-=".contains($0) ? $0 : nil }
      let name = (sign == nil ? word : word.dropFirst()).lowercased()
      let named: Set<Origin.Scheme> =
        name == "all" ? [.http, .https] : Set(Origin.Scheme(rawValue: name).map { [$0] } ?? [])
      guard known.contains(name) else {
        throw CommandError(
          .usage, "send: --\(option): \(PlainText.quote(word)) is no scheme; name http or https, as in =https")
      }
      switch sign {
      case "-": allowed.subtract(named)
      case "=": allowed = named
      default: allowed.formUnion(named)
      }
    }
    guard !allowed.isEmpty else {
      throw CommandError(
        .usage, "send: --\(option): \(PlainText.quote(text ?? "")) allows neither http nor https; name one of them")
    }
    return allowed
  }
}
