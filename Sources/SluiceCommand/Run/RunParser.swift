import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Turns lines into jobs, one after the other.
struct RunParser: Sendable {
  /// The base of relative URLs. It is read for each URL, because a reloaded configuration may have another base.
  let baseURL: @Sendable () -> HTTPURL?
  /// Has the limits of bodies.
  let transport: TransportSettings
  /// Why entries of an archive are no requests, by their line; nil if the lines are not those of an archive.
  private let refusals: [Int: String]?
  /// The URL of the last line: most lines of a run lead to few hosts.
  private var lastURL: HTTPURL?

  init(
    transport: TransportSettings, refusals: [Int: String]? = nil, baseURL: @escaping @Sendable () -> HTTPURL?
  ) {
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
      if let plain = PlainRequestLine(text, sibling: lastURL) {
        id = plain.id
        lastURL = plain.request.url
        try check(plain.request.body)
        return RunJob(id: id ?? ResultID(line: line), line: line, request: plain.request, lineBytes: text.count)
      }
      let document = try Self.document(text)
      id = Self.id(document)
      try completeURL(of: document)
      let request = try RequestLine(document, hosts: .idna).request
      try check(request.body)
      return RunJob(id: id ?? ResultID(line: line), line: line, request: request, lineBytes: text.count)
    } catch {
      throw Refusal(id: id ?? ResultID(line: line), line: line, message: "\(place(of: line)): \(error)")
    }
  }

  /// What messages call a line.
  func place(of line: Int) -> String { refusals == nil ? "line \(line)" : ArchivedRequests.place(ofLine: line) }

  /// The `id` that the result of a line has.
  static func id(of text: UnsafeRawBufferPointer, line: Int) -> ResultID {
    if let plain = PlainRequestLine(text) { return plain.id ?? ResultID(line: line) }
    return (try? document(text)).flatMap(id) ?? ResultID(line: line)
  }

  /// Nil if the document has none that can be one.
  private static func id(_ document: JSONValue) -> ResultID? {
    document["id"].flatMap { $0.isObject || $0.isArray ? nil : ResultID($0) }
  }

  private func check(_ body: Body) throws(MessageError) {
    let limit = transport.maxBytes(of: body)
    guard let count = body.byteCount, count > limit else { return }
    throw MessageError(
      .invalidBody, "body", "it has \(count) bytes, transport.maxRequestBytes allows \(limit); raise it")
  }

  private static func document(_ text: UnsafeRawBufferPointer) throws(MessageError) -> JSONValue {
    do { return try JSONValue(parsing: text, options: .rejectDuplicates) } catch {
      throw MessageError(.invalidDocument, "column \(error.column ?? 1)", "not JSON: \(error.message)")
    }
  }

  /// A URL without a scheme starts from the configuration's base URL.
  private func completeURL(of document: JSONValue) throws(MessageError) {
    guard let url = document["url"]?.string, !RelativeReference.hasScheme(url), let base = baseURL() else { return }
    document["url"] = JSONValue(try RelativeReference.resolve(url, against: base, hosts: .idna).string)
  }
}
