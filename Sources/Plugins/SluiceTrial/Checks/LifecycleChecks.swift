import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost

// Checks of create, activate, deactivate and destroy.
extension ConformanceCheck {
  static let lifecycle = [
    ConformanceCheck("create-is-quiet", "create and destroy start no threads, open no files and leave nothing") { run in
      let host = try run.host()
      let generation = try run.library(host).generation
      // The first instance is not compared, because it can fill caches of libraries.
      try run.destroy(run.instance(generation, host))
      let before = try ProcessState.first()
      let instance = try run.instance(generation, host)
      if let added = ProcessState.settled(since: before, within: .milliseconds(200)) {
        throw TrialFailure("create started or opened \(added); do that in activate")
      }
      try run.destroy(instance)
      if let added = ProcessState.settled(since: before) { throw TrialFailure("destroy left \(added)") }
    },
    ConformanceCheck("create-repeatedly", "A hundred instances can be created and destroyed in turn") { run in
      let host = try run.host()
      let generation = try run.library(host).generation
      try run.destroy(run.instance(generation, host))
      let before = try ProcessState.first()
      for _ in 0..<100 { try run.destroy(run.instance(generation, host)) }
      if let added = ProcessState.settled(since: before) { throw TrialFailure("a hundred instances left \(added)") }
    },
    ConformanceCheck("create-empty-config", "create accepts an empty configuration, or says what is missing") { run in
      let host = try run.host()
      try run.attempt([:], library: run.library(host).generation, host)
    },
    ConformanceCheck("create-any-config", "create accepts any configuration, or refuses it with a reason") {
      run in
      let host = try run.host()
      let generation = try run.library(host).generation
      var generator = TrafficGenerator(run.random)
      for _ in 0..<200 { try run.attempt(generator.variation(of: run.configuration), library: generation, host) }
    },
    ConformanceCheck("two-instances", "Two instances exist at the same time, and end in either order") { run in
      let host = try run.host(answer: TrafficGenerator.echo)
      let generation = try run.library(host).generation
      let first = try run.instance(generation, host, name: "first")
      let second = try run.instance(generation, host, name: "second")
      run.channel.step("in activate of one of two instances")
      for instance in [first, second] { try instance.activate() }
      run.channel.step("while requests went through two instances")
      for instance in [first, second, first] { try run.pass(host, instance) }
      try run.destroy(first)
      run.channel.step("while a request went through the second instance after the end of the first")
      try run.pass(host, second)
      try run.destroy(second)
    },
    ConformanceCheck("activate-deactivate", "Ten lifecycles from create to destroy leave nothing behind") { run in
      let host = try run.host(answer: TrafficGenerator.echo)
      let generation = try run.library(host).generation
      func live() throws {
        let instance = try run.activeInstance(generation, host)
        run.channel.step("while a request went through it")
        try run.pass(host, instance)
        try run.destroy(instance)
      }
      try live()
      var left: String?
      // If something is left, the lifecycles run once more, because resources that all instances share can be created
      // late, such as the timer of Dispatch.
      for _ in 0..<2 {
        let before = try ProcessState.first()
        for _ in 0..<10 { try live() }
        left = ProcessState.settled(since: before)
        guard left != nil else { return }
      }
      if let left { throw TrialFailure("after destroy there is still \(left)") }
    },
    ConformanceCheck("deactivate-in-time", "deactivate keeps its deadline") { run in
      let host = try run.host(answer: TrafficGenerator.echo)
      let instance = try run.activeInstance(run.library(host).generation, host)
      try run.pass(host, instance)
      run.channel.step("in deactivate")
      let deadline = Duration.milliseconds(500)
      let taken = ContinuousClock().measure { instance.deactivate(within: deadline) }
      // A second more than the deadline is allowed, because the machine can be busy.
      guard taken <= deadline + .seconds(1) else {
        throw TrialFailure("it was given \(deadline) but took \(taken)")
      }
      try run.destroy(instance)
    },
    ConformanceCheck(
      ConformanceCheck.exit, "When a process ends with exit, destructors and functions of atexit do not fail"
    ) { run in
      TrialExit.watch()
      let host = try TrialHost(answer: TrafficGenerator.echo)
      let library = try run.library(host)
      let instance = try run.activeInstance(library.generation, host)
      try run.pass(host, instance)
      try run.destroy(instance)
      run.channel.finish(CheckVerdict.passed.document)
      TrialExit.run(run.channel, library.loaded)
    },
    ConformanceCheck("quiet-output", "Nothing is written to standard output") { run in
      // The supervisor of this process checks the output.
      try run.withActiveInstance { host, instance in
        for _ in 0..<3 { try run.pass(host, instance) }
      }
    },
  ]
}

extension CheckRun {
  /// Creates an instance, and destroys it if create succeeds. Fails if create refuses without a reason.
  fileprivate func attempt(_ configuration: JSONValue, library: PluginGeneration, _ host: TrialHost) throws {
    let text = (try? configuration.serializedText()) ?? "…"
    channel.step("in create with the configuration \(text.prefix(300))")
    let instance: PluginInstance
    do {
      instance = try PluginInstance(library, name: name, configuration: configuration, runtime: host.runtime)
    } catch {
      guard error.code == .createFailed, error.reason.hasPrefix("create answered") else { return }
      throw TrialFailure("\(error.reason), for the configuration \(text.prefix(300))")
    }
    guard instance.destroy(within: .seconds(2)) else {
      throw TrialFailure("an instance with the configuration \(text.prefix(300)) cannot be destroyed")
    }
  }

  /// Sends a request through an instance, or through one of its places. Fails if the transaction does not end.
  @discardableResult
  func pass(
    _ host: TrialHost, _ instance: PluginInstance, _ request: Request = TrafficGenerator.plainRequest,
    at place: PluginPlace? = nil
  ) throws(TrialFailure) -> TransactionResult {
    guard let result = host.run(request, through: host.pipeline(instance, at: place)) else {
      throw TrialFailure("the transaction of \(request.method) \(request.url) did not end")
    }
    return result
  }
}
