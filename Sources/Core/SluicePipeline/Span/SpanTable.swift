/// The spans of one transaction: open spans, and ended spans that tracers have not got yet.
///
///     begin ─► open ─ end ─► ended ─ next event of the transaction ─► told
///                └─ the transaction ends ─► ended, unfinished
struct SpanTable: Sendable {
  static let maximumSpans = 64
  static let maximumAttributes = 32

  struct Entry: Sendable {
    let handle: SpanHandle
    /// The instance that began the span.
    let owner: ObjectIdentifier
    /// Whether the trace was known when the span began.
    let isTraceKnown: Bool
    var span: StageSpan
  }

  private var open: [Entry] = []
  private(set) var ended: [Entry] = []
  private var count = 0

  var isFull: Bool { count >= Self.maximumSpans }

  var hasOpenSpans: Bool { !open.isEmpty }

  /// - Parameter generation: not 0, and not easy to guess.
  mutating func begin(_ span: StageSpan, of owner: ObjectIdentifier, generation: UInt32, isTraceKnown: Bool)
    -> SpanHandle
  {
    count += 1
    let handle = SpanHandle(slot: UInt32(count), generation: generation)
    open.append(Entry(handle: handle, owner: owner, isTraceKnown: isTraceKnown, span: span))
    return handle
  }

  /// Changes an open span of that owner; nil if there is none.
  mutating func change<Result>(
    _ handle: SpanHandle, of owner: ObjectIdentifier, _ body: (inout StageSpan) -> Result
  ) -> Result? {
    guard let index = index(of: handle), open[index].owner == owner else { return nil }
    return body(&open[index].span)
  }

  /// False if the owner has no such open span.
  mutating func end(_ handle: SpanHandle, of owner: ObjectIdentifier, at time: Instant) -> Bool {
    guard let index = index(of: handle), open[index].owner == owner else { return false }
    var entry = open.remove(at: index)
    entry.span.end = time
    ended.append(entry)
    return true
  }

  /// Ends the open spans, because the transaction ends.
  mutating func endAll(at time: Instant) {
    for var entry in open {
      entry.span.end = time
      entry.span.isUnfinished = true
      ended.append(entry)
    }
    open = []
  }

  mutating func takeEnded() -> [Entry] {
    defer { ended = [] }
    return ended
  }

  /// Takes over the spans of a copy, whose changes replace the spans here. No span of the copy may have been reported
  /// since the copy was made.
  mutating func adopt(_ copy: SpanTable) {
    for entry in copy.ended {
      if let index = index(of: entry.handle) { open.remove(at: index) }
      ended.append(entry)
    }
    for entry in copy.open {
      if let index = index(of: entry.handle) { open[index] = entry } else { open.append(entry) }
    }
    count = max(count, copy.count)
  }

  private func index(of handle: SpanHandle) -> Int? { open.firstIndex { $0.handle == handle } }
}
