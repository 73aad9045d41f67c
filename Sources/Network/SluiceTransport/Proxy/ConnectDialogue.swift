import SluiceHTTP1
import SluiceMessages
import SluicePipeline

/// A tunnel through an HTTP proxy (CONNECT, RFC 9110 §9.3.6).
struct ConnectDialogue: TunnelDialogue {
  let opening: [UInt8]
  private let head: ResponseHead
  private let limits: MessageLimits
  /// The value of `Proxy-Authorization`.
  private let authorization: String?
  private var headBytes: [UInt8] = []
  private var refusal: Refusal?

  /// A response that is not a tunnel. Its body is read for the message, as far as it arrives.
  private struct Refusal {
    let status: Int
    let challenges: [Challenge]
    let text: String
    var body: ReceivedBody
    var bodyText: [UInt8] = []
  }

  /// How much of the refusal's head and of its body is in the message, in bytes.
  private static let shownBytes = 512

  /// - Parameter authorization: the value of `Proxy-Authorization`.
  init(authority: String, agent: String?, authorization: String?, _ limits: MessageLimits) {
    var text = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
    if let agent { text += "User-Agent: \(agent)\r\n" }
    if let authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
    opening = Array((text + "\r\n").utf8)
    self.limits = limits
    self.authorization = authorization
    head = ResponseHead(limits)
    head.begin(isAnswerToHead: false, isAnswerToConnect: true)
  }

  mutating func receive(_ bytes: Span<UInt8>) -> (count: Int, next: TunnelStep) {
    do throws(MessageViolation) {
      var position = 0
      while refusal == nil {
        let before = headBytes.count
        headBytes.append(copying: bytes.extracting(position..<bytes.count))
        guard try head.read(headBytes.span) else { return (bytes.count, .more) }
        position += head.byteCount - before
        let fields = head.takeFields(from: headBytes.span)
        if head.isInformational {
          head.beginNext()
        } else if head.status < 300 {
          return (position, .open)
        } else {
          refusal = refusal(fields)
        }
        headBytes = []
      }
      return (bytes.count, try readBody(bytes.extracting(position..<bytes.count)))
    } catch { return (bytes.count, .refused(TunnelRefusal(reason: "in its answer to CONNECT, \(error.explanation)"))) }
  }

  func refusalAtEnd() -> TunnelRefusal? { refusal.map(words) }

  private func refusal(_ fields: HeaderFields) -> Refusal {
    let challenges = head.status == 407 ? Challenge.challenges(in: fields, "proxy-authenticate") : []
    let line = String(decoding: headBytes.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
    let redactor = Redactor()
    let lines = fields.map { "\($0.name): \(redactor.value($0.value, ofHeader: $0.name))" }
    return Refusal(
      status: head.status, challenges: challenges, text: ([line] + lines).joined(separator: "\r\n"),
      body: ReceivedBody(head.body, limits))
  }

  private mutating func readBody(_ bytes: Span<UInt8>) throws(MessageViolation) -> TunnelStep {
    guard var refusal = self.refusal.take() else { return .more }
    var position = 0
    while !refusal.body.isDone, refusal.bodyText.count < Self.shownBytes,
      let piece = try refusal.body.next(in: bytes, at: &position)
    {
      refusal.bodyText.append(copying: bytes.extracting(piece))
    }
    self.refusal = refusal
    // The proxy may be asked again, and then the text does not matter.
    let isComplete = refusal.body.isDone || refusal.bodyText.count >= Self.shownBytes || !refusal.challenges.isEmpty
    return isComplete ? .refused(words(refusal)) : .more
  }

  private func words(_ refusal: Refusal) -> TunnelRefusal {
    var reason = "it refused the connection with status \(refusal.status)"
    if refusal.status == 407 { reason += ": \(Challenge.proxyDemand(refusal.challenges))" }
    reason += "; its answer: \(shown(refusal.text))"
    let body = String(decoding: refusal.bodyText, as: UTF8.self).trimmed
    if !body.isEmpty { reason += ", body: \(shown(body))" }
    // Proxies answer with such a status when they cannot connect to the server.
    return TunnelRefusal(reason: reason, challenges: refusal.challenges, isOfTarget: refusal.status >= 500)
  }
}

extension ConnectDialogue {
  /// A part of the answer between quotation marks, without the credentials of this side, which it may repeat.
  private func shown(_ text: String) -> String {
    var text = text
    if let token = authorization?.split(separator: " ").last, !token.isEmpty {
      text.replace(token, with: Redactor.placeholder)
      // The text may end within the credentials.
      let rest = (4..<max(4, token.count)).last { text.hasSuffix(token.prefix($0)) }
      if let rest { text = text.dropLast(rest) + Redactor.placeholder }
    }
    return "\"\(PlainText.line(text, limitBytes: Self.shownBytes))\""
  }
}

extension String {
  /// The text without blanks and line ends around it.
  fileprivate var trimmed: String {
    var text = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    while text.first?.isWhitespace == true { text.removeFirst() }
    return String(text)
  }
}
