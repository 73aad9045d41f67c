import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Turns lines into jobs, one after the other.
struct RunParser: Sendable {
  /// Returns the base of relative URLs. It is called for each URL, because a reload can change the base.
  let baseURL: @Sendable () -> HTTPURL?
  /// What each request gets that its line does not have.
  let defaults: RunDefaults
  /// Contains the limits for bodies.
  let transport: TransportSettings
  /// The reasons why entries of an archive are not requests, by line number; nil if the lines do not come from an
  /// archive.
  private let refusals: [Int: String]?
  /// The URL of the last line. It makes parsing faster if the next line has a URL on the same host.
  private var lastURL: HTTPURL?

  init(
    transport: TransportSettings, defaults: RunDefaults, refusals: [Int: String]? = nil,
    baseURL: @escaping @Sendable () -> HTTPURL?
  ) {
    self.defaults = defaults
    self.transport = transport
    self.refusals = refusals
    self.baseURL = baseURL
  }

  /// Why a line is not a request.
  struct Refusal: Error {
    let id: ResultID
    let line: Int
    let message: String
  }

  mutating func job(_ text: UnsafeRawBufferPointer, line: Int) throws(Refusal) -> RunJob {
    if let message = refusals?[line] { throw Refusal(id: ResultID(line: line), line: line, message: message) }
    var id: ResultID?
    do throws(MessageError) {
      if defaults.isEmpty, let plain = PlainRequestLine(text, sibling: lastURL) {
        id = plain.id
        lastURL = plain.request.url
        try check(plain.request.body)
        return RunJob(id: id ?? ResultID(line: line), line: line, request: plain.request, lineBytes: text.count)
      }
      let document =
        if let url = Self.url(in: text) { ["url": JSONValue(url)] as JSONValue } else {
          try RequestLine.document(text)
        }
      id = ResultID(of: document, text: text)
      defaults.complete(document)
      try completeURL(of: document)
      var request = try RequestLine(document, text: text, hosts: .idna).request
      try defaults.complete(&request)
      try check(request.body)
      return RunJob(id: id ?? ResultID(line: line), line: line, request: request, lineBytes: text.count)
    } catch {
      throw Refusal(id: id ?? ResultID(line: line), line: line, message: "\(place(of: line)): \(error)")
    }
  }

  /// The text of a line that is a URL: it begins with a scheme of HTTP or with a slash. Nil for any other line.
  private static func url(in text: UnsafeRawBufferPointer) -> String? {
    guard let first = text.first(where: { $0 != 0x20 && $0 != 0x09 }), first | 0x20 == 0x68 || first == 0x2F,
      let line = String(validating: text, as: UTF8.self)
    else { return nil }
    let blanks: Set<Character> = [" ", "\t"]
    let url = String(line.drop(while: blanks.contains).reversed().drop(while: blanks.contains).reversed())
    let start = url.prefix(8).lowercased()
    return first == 0x2F || start.hasPrefix("http://") || start == "https://" ? url : nil
  }

  /// The name of a line in messages.
  func place(of line: Int) -> String { refusals == nil ? "line \(line)" : ArchivedRequests.place(ofLine: line) }

  /// The `id` for the result of a line.
  static func id(of text: UnsafeRawBufferPointer, line: Int) -> ResultID {
    if let plain = PlainRequestLine(text) { return plain.id ?? ResultID(line: line) }
    return (try? RequestLine.document(text)).flatMap { ResultID(of: $0, text: text) } ?? ResultID(line: line)
  }

  private func check(_ body: Body) throws(MessageError) {
    let limit = transport.maxBytes(of: body)
    guard let count = body.byteCount, count > limit else { return }
    throw MessageError(
      .invalidBody, "body", "it has \(count) bytes, but transport.maxRequestBytes allows \(limit); raise the limit")
  }

  /// Completes a URL without a scheme with the base URL of the configuration.
  private func completeURL(of document: JSONValue) throws(MessageError) {
    guard let url = document["url"]?.string, !RelativeReference.hasScheme(url), let base = baseURL() else { return }
    document["url"] = JSONValue(try RelativeReference.resolve(url, against: base, hosts: .idna).string)
  }
}
