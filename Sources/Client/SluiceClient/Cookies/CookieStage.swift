import SluiceCookies
import SluiceMessages
import SluicePipeline

/// Sends the cookies of a jar with each hop, and stores the cookies that the hop's response sets.
///
/// The jar is asked with the URL of the hop, and the field is set only for that hop: a redirect does not keep it.
final class CookieStage: Interceptor, Tracer {
  let capabilities: StageCapabilities = .issue
  let interests = TraceInterests(.didReceive, .didEndHop)
  private static let name = Array("Cookie".utf8)
  private let jar: CookieJar
  private let besidesGiven: Bool

  /// - Parameter besidesGiven: whether the jar's cookies are also sent if the caller has set cookies. If so, the jar's
  ///   cookies come before the caller's cookies.
  init(_ jar: CookieJar, besidesGiven: Bool = false) {
    self.jar = jar
    self.besidesGiven = besidesGiven
  }

  func interceptIssue(_ exchange: Exchange) -> Verdict {
    let given = exchange.issueHeaders?[bytes: "cookie"] ?? []
    guard given.isEmpty || besidesGiven, var value = jar.header(for: exchange.requestForms.native.url) else {
      return .proceed
    }
    for cookies in given where !cookies.isEmpty { value += Array("; ".utf8) + cookies }
    exchange.issueHeaders?.set(Self.name.span, to: value.span, marks: [.sensitive, .addedByStage])
    return .proceed
  }

  func record(_ event: TraceEvent) {
    // If a hop fails while the stages wait for its body, its head is reported only when the hop ends.
    guard event.kind == .didReceive || event.status != 0 && event.receivedStatus == 0,
      let response = event.exchange.responseForms.native
    else { return }
    jar.receive(response.headers, from: event.exchange.requestForms.native.url)
  }
}
