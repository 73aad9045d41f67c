/// How much `bench` sends.
struct BenchPlan: Sendable {
  /// In each round.
  let requests: Int
  /// Requests in flight at a time.
  let connections: Int
  let rounds: Int

  /// - Parameter limit: the transactions that the engine may have in flight.
  init(_ arguments: ParsedArguments, limit: Int) throws(CommandError) {
    requests = try arguments.integer("requests", 1...100_000_000) ?? 10_000
    connections = try arguments.integer("connections", 1...min(limit, 10_000)) ?? min(limit, 32)
    rounds = try arguments.integer("rounds", 1...1000) ?? 5
  }

  /// The requests before the first round: connections are made, and memory is allocated, only once.
  var warmUp: Int { max(1, requests / 4) }
}
