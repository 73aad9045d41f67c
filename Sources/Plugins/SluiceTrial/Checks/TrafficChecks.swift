import SluiceMessages
import SluicePipeline
import SluicePluginHost

// Checks with requests and responses.
extension ConformanceCheck {
  static let traffic = [
    ConformanceCheck("exchanges", "Every transaction ends, for any request and response") { run in
      try run.withActiveInstance(answer: TrafficGenerator.random(run.request.seed)) { host, instance in
        var generator = TrafficGenerator(run.random)
        for number in 0..<300 {
          guard host.run(generator.request(), through: host.pipeline(instance)) != nil else {
            throw TrialFailure("transaction \(number) did not end")
          }
        }
      }
    },
    ConformanceCheck("no-violations", "No rule of the ABI is broken") { run in
      try run.withActiveInstance(loops: 2, answer: TrafficGenerator.random(run.request.seed)) { host, instance in
        var generator = TrafficGenerator(run.random)
        for number in 0..<200 {
          let result = host.run(generator.request(), through: host.pipeline(instance), loop: number % 2)
          if let error = result?.error, error.code == .stageFault {
            throw TrialFailure("a call of the plugin failed: \(error.message)")
          }
        }
        try instance.requireNoViolations(in: host)
      }
    },
    ConformanceCheck("one-loop", "A thousand transactions run at the same time on one loop") { run in
      try run.withActiveInstance { host, instance in try run.crowd(host, instance, count: 1000) }
    },
    ConformanceCheck("several-loops", "Transactions on four loops at once all end, and no rule is broken") { run in
      try run.withActiveInstance(loops: 4) { host, instance in
        try run.crowd(host, instance, count: 2000)
        try instance.requireNoViolations(in: host)
      }
    },
    ConformanceCheck("suspend-resume", "A suspended call is resumed exactly once") { run in
      try run.withActiveInstance { host, instance in
        let started = (0..<50).map { _ in host.start(TrafficGenerator.plainRequest, through: host.pipeline(instance)) }
        let ended = started.map { $0.wait() }
        guard started.contains(where: \.wasSuspended) else { throw instance.suspendedNoCall }
        for result in ended {
          guard let result else { throw TrialFailure("a transaction that it had suspended did not end") }
          let isLate = [.stageTimeout, .deadline].contains(result.error?.code)
          guard !isLate else { throw TrialFailure("it did not resume a call within \(TrialHost.patience)") }
        }
        try instance.requireNoViolations(in: host)
      }
    },
    ConformanceCheck(
      "cancel-suspended", "A transaction ends at once when it is cancelled, and a late resume is harmless"
    ) {
      run in
      try run.withActiveInstance { host, instance in
        let started = (0..<50).map { _ in
          host.start(TrafficGenerator.plainRequest, through: host.pipeline(instance), cancelling: true)
        }
        let ended = started.map { $0.wait() }
        guard started.contains(where: \.wasSuspended) else { throw instance.suspendedNoCall }
        guard ended.allSatisfy({ $0 != nil }) else { throw TrialFailure("a cancelled transaction did not end") }
        // The plugin's own threads can resume a token that has just become invalid, which is not a fault.
        try instance.requireNoViolations(in: host, but: [.staleToken])
        try run.pass(host, instance)
      }
    },
    ConformanceCheck("tracer-events", "A tracer accepts every kind of event") { run in
      try run.withActiveInstance(answer: TrafficGenerator.random(run.request.seed)) { host, instance in
        guard instance.capabilities.contains(.trace) else { throw TrialFailure.absent("it is not a tracer") }
        var generator = TrafficGenerator(run.random)
        for number in 0..<200 {
          let started = host.start(
            generator.request(), through: host.pipeline(instance), cancelling: number % 10 == 0)
          guard started.wait() != nil else { throw TrialFailure("transaction \(number) did not end") }
        }
        try instance.requireNoViolations(in: host)
      }
    },
  ]
}

extension CheckRun {
  /// Runs transactions at the same time, distributed over the loops.
  fileprivate func crowd(_ host: TrialHost, _ instance: PluginInstance, count: Int) throws {
    let pipeline = host.pipeline(instance)
    var generator = TrafficGenerator(random)
    let started = (0..<count).map { number in
      host.start(generator.request(), through: pipeline, loop: number % host.loops.count)
    }
    for (number, transaction) in started.enumerated() where transaction.wait() == nil {
      throw TrialFailure("transaction \(number) of \(count) did not end")
    }
  }
}

extension PluginInstance {
  /// Explains why no call was suspended. A plugin that requires suspension should have suspended one.
  fileprivate var suspendedNoCall: TrialFailure {
    generation.facts?.requiredFeatures.names.contains("suspend") == true
      ? .skip(
        "it suspended no call, although it requires that feature; other answers to its call-outs might change that")
      : .absent("it suspended no call")
  }

  /// Fails if the host has counted a violation. The failure quotes the host's log line about the first kind of
  /// violation.
  func requireNoViolations(in host: TrialHost, but allowed: Set<Violation> = []) throws(TrialFailure) {
    for kind in Violation.allCases where violations[kind] > 0 && !allowed.contains(kind) {
      throw TrialFailure("it \(host.detail(of: kind))")
    }
  }
}
