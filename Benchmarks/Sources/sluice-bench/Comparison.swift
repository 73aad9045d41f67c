import CBareLoop

/// Runs rounds of all subjects in turn, so that anything that slows the machine slows all of them.
struct Comparison {
  private let subjects: [any BenchmarkSubject]
  private let plan: Plan
  /// The position of the subject that the others are compared with.
  private let reference: Int

  init(_ subjects: [any BenchmarkSubject], _ plan: Plan) throws {
    self.subjects = subjects
    self.plan = plan
    guard let position = subjects.firstIndex(where: { $0.name == plan.against ?? subjects[0].name }) else {
      throw BenchmarkError("--against \(plan.against ?? ""): not among the subjects of this run")
    }
    reference = position
  }

  func run() throws {
    // The warm-up. `scripts/count-instructions.sh` relies on the number of these requests.
    for subject in subjects {
      let failed = try subject.run(requests: plan.requests / 4)
      guard failed == 0 else { throw BenchmarkError("\(subject.name): \(failed) requests of the warm-up failed") }
    }
    var rounds = subjects.map { _ in [Measurement]() }
    for round in 0..<plan.rounds {
      // Every second round runs in reverse order, so that no subject is always first.
      let order = round % 2 == 0 ? Array(subjects.indices) : subjects.indices.reversed()
      for index in order {
        rounds[index].append(try Measurement.of(subjects[index], requests: plan.requests))
      }
    }
    report(rounds)
  }

  /// Prints the results. Ratios are computed for each round.
  private func report(_ rounds: [[Measurement]]) {
    let name = subjects[reference].name
    var rows = [
      ["subject", "requests/s", "CPU µs/request", "CPU to \(name)", "speed to \(name)", "allocations/request"]
    ]
    for (subject, own) in zip(subjects, rounds) {
      let pairs = zip(own, rounds[reference])
      let allocations = own.compactMap(\.allocations)
      rows.append([
        subject.name, Spread(own.map(\.requestsPerSecond)).text(digits: 0),
        Spread(own.map(\.cpuMicroseconds)).text(digits: 2),
        Spread(pairs.map { $0.cpuMicroseconds / $1.cpuMicroseconds }).text(digits: 3),
        Spread(pairs.map { $0.requestsPerSecond / $1.requestsPerSecond }).text(digits: 3),
        allocations.isEmpty ? "-" : Spread(allocations).text(digits: 2),
      ])
    }
    for line in Self.aligned(rows) { print(line) }
    let others = subjects.compactMap { subject in subject.peakMegabytes.map { ", \(subject.name) \($0) MB" } }
    print("peak resident: \(bench_peak_megabytes()) MB\(others.joined())")
  }

  private static func aligned(_ rows: [[String]]) -> [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }
  }
}
