import CBareLoop

/// Rounds of all subjects in turn, so that whatever slows the machine slows all of them.
struct Comparison {
  let subjects: [any BenchmarkSubject]
  let plan: Plan

  func run() throws {
    for subject in subjects { _ = try subject.run(requests: plan.requests / 4) }
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

  /// Ratios are taken round by round against the first subject.
  private func report(_ rounds: [[Measurement]]) {
    print("subject     requests/s               CPU µs per request     ratio to \(subjects[0].name)")
    for (index, subject) in subjects.enumerated() {
      let speed = Spread(rounds[index].map(\.requestsPerSecond)).text(digits: 0)
      let cpu = Spread(rounds[index].map(\.cpuMicroseconds)).text(digits: 2)
      let ratios = zip(rounds[index], rounds[0]).map { $0.requestsPerSecond / $1.requestsPerSecond }
      print(pad(subject.name, 11), pad(speed, 24), pad(cpu, 22), Spread(ratios).text(digits: 3))
    }
    print("peak resident: \(bench_peak_megabytes()) MB")
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
