package import SluiceMessages

/// The messages of an exchange at one moment.
struct MessageState {
  /// Nil if a stage left a document that is not a request.
  var request: Request?
  var response: Response?
  /// The limits that stages have set.
  var limits: ExchangeLimits?

  /// The changes from an earlier state to this one.
  func changes(since before: MessageState, _ settings: JournalSettings) -> [StageChange] {
    var list = ChangeList(settings: settings)
    if let old = before.request, let new = request { list.compare(old, new) }
    if let new = response { list.compare(before.response, new) }
    if let limits { list.compare(before.limits ?? ExchangeLimits(), limits) }
    return list.changes
  }
}

extension JournalSettings {
  /// A response, written as the changes that turn an empty message into this response.
  package func changes(making response: Response) -> [StageChange] {
    MessageState(response: response).changes(since: MessageState(), self)
  }

  /// The URL and the headers of a request, written as changes.
  package func changes(making request: Request) -> [StageChange] {
    var list = ChangeList(settings: self)
    list.add(.request, .url, [], [text(of: request.url)])
    list.compare(.request, HeaderFields(), request.headers) { .header($0) }
    return list.changes
  }
}

private struct ChangeList {
  let settings: JournalSettings
  var changes: [StageChange] = []

  mutating func compare(_ old: Request, _ new: Request) {
    if old.method != new.method { add(.request, .method, [old.method], [new.method]) }
    if old.url.string != new.url.string {
      add(.request, .url, [settings.text(of: old.url)], [settings.text(of: new.url)])
    }
    compare(.request, old.headers, new.headers) { .header($0) }
    compare(.request, old.body, new.body)
    if old.hasTrailers || new.hasTrailers { compare(.request, old.trailers, new.trailers) { .trailer($0) } }
  }

  mutating func compare(_ old: Response?, _ new: Response) {
    if old?.status != new.status { add(.response, .status, old.map { ["\($0.status)"] } ?? [], ["\(new.status)"]) }
    compare(.response, old?.headers ?? HeaderFields(), new.headers) { .header($0) }
    compare(.response, old?.body ?? .empty, new.body)
    compare(.response, old?.trailers ?? HeaderFields(), new.trailers) { .trailer($0) }
  }

  mutating func compare(_ old: ExchangeLimits, _ new: ExchangeLimits) {
    func time(_ nanoseconds: UInt64) -> String { "\(Duration.nanoseconds(Int64(clamping: nanoseconds)))" }
    add("timeout", old.timeoutNanoseconds, new.timeoutNanoseconds, .max, time)
    add("attempt timeout", old.attemptNanoseconds, new.attemptNanoseconds, .max, time)
    add("response bytes", old.responseBytes, new.responseBytes, .max) { "\($0)" }
    add("attempts", old.attempts, new.attempts, .max) { "\($0)" }
  }

  private mutating func add<Value: Equatable>(
    _ limit: String, _ old: Value, _ new: Value, _ none: Value, _ text: (Value) -> String
  ) {
    guard old != new else { return }
    add(.request, .limit(limit), old == none ? [] : [text(old)], [text(new)])
  }

  mutating func add(_ side: MessageSide, _ part: StageChange.Part, _ before: [String], _ after: [String]) {
    changes.append(StageChange(side, part, before: before, after: after))
  }

  mutating func compare(
    _ side: MessageSide, _ old: HeaderFields, _ new: HeaderFields, _ part: (String) -> StageChange.Part
  ) {
    if old == new { return }
    var seen: Set<String> = []
    for fields in [old, new] {
      for index in fields.indices {
        let name = fields.name(at: index).lowercased()
        guard seen.insert(name).inserted, !old.hasSame(name, as: new) else { continue }
        add(side, part(name), settings.values(of: name, in: old), settings.values(of: name, in: new))
      }
    }
  }

  private mutating func compare(_ side: MessageSide, _ old: Body, _ new: Body) {
    let isSame =
      switch (old, new) {
      case (.bytes(let old), .bytes(let new)): old == new
      case (.file(let old), .file(let new)): old === new
      case (.stream(let old), .stream(let new)): old === new
      default: old.isEmpty && new.isEmpty
      }
    if !isSame { add(side, .body, settings.texts(of: old), settings.texts(of: new)) }
  }
}

extension HeaderFields {
  fileprivate func hasSame(_ name: String, as other: HeaderFields) -> Bool {
    let (ours, theirs) = (places(of: name), other.places(of: name))
    return ours.count == theirs.count
      && zip(ours, theirs).allSatisfy { buffer[valueRange(at: $0)] == other.buffer[other.valueRange(at: $1)] }
  }

  private func places(of name: String) -> [Index] {
    indices.filter { FieldSyntax.equals(buffer.span.extracting(nameRange(at: $0)), text: name) }
  }
}
