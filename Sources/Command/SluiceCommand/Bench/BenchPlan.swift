/// How much `bench` sends.
struct BenchPlan: Sendable {
  /// The number of requests in each round.
  let requests: Int
  /// The number of requests in flight at the same time.
  let connections: Int
  let rounds: Int

  /// - Parameter limit: the maximum number of transactions that the engine can have in flight.
  init(_ arguments: ParsedArguments, limit: Int) throws(CommandError) {
    requests = try arguments.integer("requests", 1...100_000_000) ?? 10_000
    connections = try arguments.integer("connections", 1...min(limit, 10_000)) ?? min(limit, 32)
    rounds = try arguments.integer("rounds", 1...1000) ?? 5
  }

  /// The number of requests that are sent before the first round, so that connections are open and memory is allocated.
  var warmUp: Int { max(1, requests / 4) }
}
