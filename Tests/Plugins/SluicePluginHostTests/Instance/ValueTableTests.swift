import Testing

@testable import SluicePluginHost

/// The table of numbers that implements `sluice.values/1`.
struct ValueTableTests {
  private func with<Result>(_ key: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    Array(key.utf8).withUnsafeBufferPointer(body)
  }

  private func add(_ table: ValueTable, _ key: String, _ amount: Int64) -> Int64? {
    with(key) { table.add($0, amount) }
  }

  private func get(_ table: ValueTable, _ key: String) -> Int64? { with(key) { table.get($0) } }

  @Test func `a value is absent until it is set, and sums wrap around`() {
    let table = ValueTable()
    #expect(get(table, "a") == nil)
    #expect(add(table, "a", .max) == .max)
    #expect(add(table, "a", 1) == .min)
    #expect(get(table, "a") == .min && get(table, "b") == nil)
  }

  @Test func `all keys up to the limit are found again, and a key beyond the limit is refused`() {
    let table = ValueTable()
    for index in 0..<ValueTable.maximumCount { #expect(add(table, "key \(index)", Int64(index)) == Int64(index)) }
    #expect(add(table, "one more", 1) == nil && get(table, "one more") == nil)
    for index in 0..<ValueTable.maximumCount { #expect(get(table, "key \(index)") == Int64(index)) }
    #expect(add(table, "key 7", 1) == 8)
  }

  @Test func `for compare-exchange, a value that was never set is 0`() {
    let table = ValueTable()
    func exchange(_ expected: Int64, _ desired: Int64) -> ValueTable.Exchange {
      with("a") { table.compareExchange($0, expected: expected, desired: desired) }
    }
    guard case .differs(0) = exchange(5, 6) else { return #expect(Bool(false), "5 matched the value 0") }
    #expect(get(table, "a") == nil)
    guard case .done = exchange(0, 6), case .differs(6) = exchange(0, 7), case .done = exchange(6, 8) else {
      return #expect(Bool(false), "no exchange")
    }
    #expect(get(table, "a") == 8)
  }

  @Test func `no change is lost if several threads set new keys, add to values and exchange values at the same time`()
    async
  {
    let table = ValueTable()
    let rounds = 5000
    await withTaskGroup { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<rounds {
            // All threads set these keys for the first time at about the same time.
            _ = add(table, "shared \(round % 200)", 1)
            with("exchanged") { key in
              var expected = table.get(key) ?? 0
              while case .differs(let now) = table.compareExchange(key, expected: expected, desired: expected + 1) {
                expected = now
              }
            }
            _ = add(table, "own \(worker)", 1)
          }
        }
      }
    }
    #expect(get(table, "exchanged") == Int64(4 * rounds))
    #expect((0..<200).reduce(0) { $0 + (get(table, "shared \($1)") ?? 0) } == Int64(4 * rounds))
    #expect((0..<4).allSatisfy { get(table, "own \($0)") == Int64(rounds) })
  }
}
