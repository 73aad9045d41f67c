extension Array where Element: Sendable {
  /// Runs the body for all elements, at most `limit` at the same time, and returns its results in the order of the
  /// elements.
  package func mapConcurrently<Result: Sendable>(
    atMost limit: Int, _ body: @escaping @Sendable (Element) async -> Result
  ) async -> [Result] {
    await withTaskGroup(of: (index: Int, result: Result).self) { group in
      var results = [Result?](repeating: nil, count: count)
      for (index, element) in enumerated() {
        if index >= limit, let ended = await group.next() { results[ended.index] = ended.result }
        group.addTask { (index, await body(element)) }
      }
      for await ended in group { results[ended.index] = ended.result }
      return results.compactMap(\.self)
    }
  }
}
