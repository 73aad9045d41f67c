/// Spans that wait to be exported, up to a limit: what comes beyond it is dropped and counted.
public struct SpanQueue: Sendable {
  private var spans: [ExportedSpan] = []
  private var head = 0
  private let capacity: Int
  /// Since the count was taken.
  private var unreportedDrops = 0
  public private(set) var drops = 0

  public init(capacity: Int) { self.capacity = capacity }

  public var count: Int { spans.count - head }
  public var isEmpty: Bool { count == 0 }

  /// False if the span was dropped.
  @discardableResult
  public mutating func append(_ span: ExportedSpan) -> Bool {
    guard count < capacity else {
      drops += 1
      unreportedDrops += 1
      return false
    }
    spans.append(span)
    return true
  }

  /// The oldest spans, at most that many.
  public mutating func take(_ maximum: Int) -> [ExportedSpan] {
    let batch = Array(spans[head..<min(head + maximum, spans.count)])
    head += batch.count
    if head == spans.count || head >= capacity {
      spans.removeFirst(head)
      head = 0
    }
    return batch
  }

  /// How many spans were dropped since the last call.
  public mutating func takeDrops() -> Int {
    defer { unreportedDrops = 0 }
    return unreportedDrops
  }
}
