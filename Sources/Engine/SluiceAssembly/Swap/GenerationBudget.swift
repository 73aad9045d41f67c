/// Bounds the builds that an engine maps in its life, because none is ever unloaded.
package struct GenerationBudget: Sendable {
  /// Builds that are mapped, or will be mapped.
  package struct Use: Sendable, Hashable {
    package var count: Int
    /// The maximum of the memory that their mappings take.
    package var bytes: Int

    package init(count: Int = 0, bytes: Int = 0) {
      self.count = count
      self.bytes = bytes
    }

    package init(_ records: [GenerationRecord]) {
      self.init(count: records.count, bytes: records.reduce(0) { $0 + $1.mappedBytes })
    }

    package static func + (left: Use, right: Use) -> Use {
      Use(count: left.count + right.count, bytes: left.bytes + right.bytes)
    }
  }

  package let limit: Use

  package init(_ settings: SwapSettings) { limit = Use(count: settings.generations, bytes: settings.generationBytes) }

  /// Why no more builds are mapped; nil if there is room for them.
  package func refusal(of more: Use, after used: Use) -> String? {
    guard more.count > 0 else { return nil }
    let sum = used + more
    let reason =
      if sum.count > limit.count {
        "the limit is \(limit.count) (swap.generations)"
      } else if sum.bytes > limit.bytes {
        "\(more.bytes) bytes more would exceed the limit of \(limit.bytes) (swap.generationBytes)"
      } else {
        nil as String?
      }
    return reason.map { "\(Self.state(used)) and none is ever unloaded; \($0); restart the program" }
  }

  /// Returns a warning if the new builds have used up a further part of the budget.
  package func warning(from earlier: Use, to now: Use) -> String? {
    guard let mark = Self.marks.last(where: { percent(now) >= $0 }), percent(earlier) < mark else { return nil }
    let isReached = now.count >= limit.count || now.bytes >= limit.bytes
    return "\(Self.state(now)) and none is ever unloaded: the limit is \(limit.count) (swap.generations) and "
      + "\(limit.bytes) bytes (swap.generationBytes); "
      + (isReached
        ? "it is reached, so swaps will be refused; restart the program"
        : "at the limit, swaps will be refused; restart the program before that")
  }

  /// The percentages of the budget at which there is a warning.
  private static let marks = [80, 95]

  private func percent(_ use: Use) -> Int {
    max(Self.percent(use.count, of: limit.count), Self.percent(use.bytes, of: limit.bytes))
  }

  private static func percent(_ part: Int, of whole: Int) -> Int { Int(Double(part) / Double(max(whole, 1)) * 100) }

  private static func state(_ use: Use) -> String {
    "\(use.count) \(use.count == 1 ? "build is" : "builds are") mapped, which can take \(use.bytes) bytes of memory,"
  }
}
