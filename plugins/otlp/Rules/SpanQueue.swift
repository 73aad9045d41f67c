/// Spans that wait to be exported, up to a limit; further spans are dropped and counted.
package struct SpanQueue: Sendable {
  private var spans: [ExportedSpan] = []
  private var head = 0
  private let capacity: Int
  /// The number of spans that were dropped since the count was last read.
  private var unreportedDrops = 0
  package private(set) var drops = 0

  package init(capacity: Int) { self.capacity = capacity }

  package var count: Int { spans.count - head }
  package var isEmpty: Bool { count == 0 }

  /// Adds a span; false if it was dropped.
  @discardableResult
  package mutating func append(_ span: ExportedSpan) -> Bool {
    guard count < capacity else {
      drops += 1
      unreportedDrops += 1
      return false
    }
    spans.append(span)
    return true
  }

  /// Takes the oldest spans, at most this many.
  package mutating func take(_ maximum: Int) -> [ExportedSpan] {
    let batch = Array(spans[head..<min(head + maximum, spans.count)])
    head += batch.count
    if head == spans.count || head >= capacity {
      spans.removeFirst(head)
      head = 0
    }
    return batch
  }

  /// Returns how many spans were dropped since the last call.
  package mutating func takeDrops() -> Int {
    defer { unreportedDrops = 0 }
    return unreportedDrops
  }
}
