import SluiceMessages
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// Checks which functions a plugin calls in which phase, and on hosts with fewer features.
extension ConformanceCheck {
  static let permissions = [
    ConformanceCheck("phases", "In every phase, the plugin calls only functions that may_call allows there") { run in
      try run.withActiveInstance(answer: PhaseTraffic.answer) { host, instance in
        for request in PhaseTraffic.requests {
          run.channel.step("while \(request.method) \(request.url) went through it")
          try run.pass(host, instance, request)
        }
        guard instance.violations[.refusedWrite] > 0 else { return }
        throw TrialFailure("it \(host.detail(of: .refusedWrite)); ask may_call first")
      }
    },
    ConformanceCheck(
      "least-host",
      "On a host with only the required features, the plugin can be created and lets a plain request pass"
    ) { run in
      let facts = try LibraryFacts(of: LibraryImage(reading: run.request.path))
      let required = facts.requiredFeatures.features
      let full = try run.host(answer: TrafficGenerator.echo)
      let instance = try run.instance(run.library(full).generation, full)
      let hasCallbacks = !instance.capabilities.isEmpty
      try run.destroy(instance)
      func failure(with features: HostFeatures) throws -> String? {
        try run.failure(with: features, facts, hasCallbacks: hasCallbacks)
      }
      guard try failure(with: .offered) == nil, let reason = try failure(with: required) else { return }
      // Leaves out one feature after the other, as long as the request passes. What is left is needed.
      var needed = HostFeatures.offered.subtracting(required)
      for name in needed.names {
        let fewer = needed.subtracting(HostFeatures(named: [name]))
        if try failure(with: required.union(fewer)) == nil { needed = fewer }
      }
      let offered = required.names.isEmpty ? "no optional feature" : "only \(required.names.joined(separator: ", "))"
      throw TrialFailure("on a host that offers \(offered): \(reason). \(facts.advice(requiring: needed))")
    },
  ]
}

extension CheckRun {
  /// Why the plugin fails on a host with these features; nil if a plain request passes.
  /// - Parameter hasCallbacks: whether a host with all features calls functions of the plugin for a request.
  fileprivate func failure(
    with features: HostFeatures, _ facts: LibraryFacts, hasCallbacks: Bool
  ) throws -> String? {
    let steps = LeastHostSteps(channel, facts)
    let host = try host(features: features, noteLacking: { steps.note($0, $1) }, answer: TrafficGenerator.echo)
    let reason: String
    do {
      guard let found = try failure(on: host, steps, hasCallbacks: hasCallbacks) else { return nil }
      reason = found
    } catch let error as PluginError { reason = error.reason } catch let failure as TrialFailure {
      reason = failure.reason
    }
    let refused = steps.refused
    return refused.isEmpty ? reason : "\(reason), after it was refused \(refused)"
  }

  /// Creates an instance on the host, and sends requests through it.
  private func failure(on host: TrialHost, _ steps: LeastHostSteps, hasCallbacks: Bool) throws -> String? {
    steps.begin("in create")
    let generation = try library(host).generation
    let instance = try PluginInstance(generation, name: name, configuration: configuration, runtime: host.runtime)
    if hasCallbacks, instance.capabilities.isEmpty { return "none of its functions would be called" }
    steps.begin("in activate")
    try instance.activate()
    steps.begin("while requests went through it")
    var isSuccess = false
    for (index, request) in ([TrafficGenerator.plainRequest] + PhaseTraffic.requests).enumerated() {
      let result = try pass(host, instance, request)
      if let error = result.error, error.code == .stageFault {
        throw TrialFailure("a call of the plugin failed: \(error.message)")
      }
      if index == 0 { isSuccess = result.error == nil }
    }
    try destroy(instance)
    return isSuccess ? nil : "a plain request fails"
  }
}

/// The steps of a plugin on a host that lacks features, for the report of a crash: a plugin that calls a function of a
/// table that it did not get crashes, perhaps much later.
private final class LeastHostSteps: Sendable {
  private let channel: TrialChannel
  private let facts: LibraryFacts
  private let state = Locked((step: "", features: HostFeatures(), functions: [String]()))

  init(_ channel: TrialChannel, _ facts: LibraryFacts) { (self.channel, self.facts) = (channel, facts) }

  /// The functions and tables that the host has refused, in the order of the requests; empty if there were none.
  var refused: String { state.withLock { $0.functions.joined(separator: ", ") } }

  func begin(_ step: String) {
    state.withLock { $0.step = step }
    report()
  }

  func note(_ feature: HostFeatures, _ function: String) {
    state.withLock { state in
      state.features.formUnion(feature)
      state.functions.append(function)
    }
    report()
  }

  private func report() {
    let (step, features, functions) = state.withLock { $0 }
    guard !functions.isEmpty else { return channel.step(step) }
    let refused = functions.joined(separator: ", ")
    channel.step("\(step), after the host refused it \(refused). \(facts.advice(requiring: features))")
  }
}

extension LibraryFacts {
  /// The lines with which the plugin requires the features, in its own language.
  fileprivate func advice(requiring features: HostFeatures) -> String {
    let lines = features.names.map { name in
      guard language == .swift else { return "SLUICE_REQUIRES(\(name));" }
      let words = name.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      return "@section(\".sluice.requires.\(name)\") @used let requires\(words) = true"
    }
    return "If it is useless there, add at file scope: \(lines.joined(separator: " "))"
  }
}

/// Requests and answers that together make the host call a plugin in every phase.
enum PhaseTraffic {
  static let requests: [Request] = ["/plain", "/redirect", "/challenge", "/unreachable", "/lost", "/unavailable"]
    .flatMap { path in
      guard let url = try? HTTPURL("http://example.com\(path)") else { preconditionFailure("a URL that is one") }
      var post = Request(method: "POST", url: url, headers: ["content-type": "text/plain"], body: .text("a body"))
      post.trailers = ["x-checksum": "1"]
      return [Request(method: "GET", url: url), post]
    }

  static let answer: TrialHost.Answer = { request in
    switch request.url.path {
    case "/redirect": .response(Response(status: 307, headers: ["location": "/plain"]))
    case "/challenge" where request.headers["authorization"] == nil:
      .response(Response(status: 401, headers: ["www-authenticate": "Basic realm=\"r\""]))
    case "/unreachable": .connectFailure(TransportError(.connect, "nobody listens", isBeforeSending: true))
    case "/lost": .failure(TransportError(.connectionLost, "the connection was lost"))
    case "/unavailable": .response(Response(status: 503, body: .text("later")))
    default:
      .response(
        Response(status: 200, headers: ["content-type": "text/plain"], trailers: ["x-checksum": "1"]),
        pieces: [Array("a ".utf8), Array("body".utf8)], hints: [["link": "</style.css>; rel=preload"]])
    }
  }
}
