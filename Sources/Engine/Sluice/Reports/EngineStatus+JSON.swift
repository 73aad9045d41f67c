public import SluiceAssembly
public import SluiceJSON
import SluicePipeline
import SluiceReplay

extension EngineStatus {
  /// The status as a JSON document; docs/control.md describes its members.
  public func document() -> JSONValue {
    let document: JSONValue = [
      "snapshot": JSONValue(Int64(snapshot)),
      "budget": [
        "used": JSONValue(Int64(budget.used)), "limit": JSONValue(Int64(budget.limit)),
        "usedBytes": JSONValue(Int64(budgetBytes.used)), "limitBytes": JSONValue(Int64(budgetBytes.limit)),
      ],
      "replaced": ["waiting": JSONValue(Int64(replaced.used)), "limit": JSONValue(Int64(replaced.limit))],
      "queued": JSONValue(Int64(queued)), "waits": .array(of: waits.map { $0.document() }),
      "generations": .array(of: generations.map { $0.document() }),
      "history": .array(of: history.map { $0.document() }),
      "silentLoops": .array(of: silentLoops.map { JSONValue(Int64($0)) }),
      "stalls": .array(of: stalls.map { $0.document() }),
    ]
    document["canary"] = canary.map { $0.document() }
    if isDeciding { document["deciding"] = true }
    if let probation {
      document["probation"] = [
        "standby": JSONValue(Int64(probation.standby)), "remainingMs": .milliseconds(probation.remaining),
        "transactions": JSONValue(Int64(probation.transactions)), "followsCanary": JSONValue(probation.followsCanary),
      ]
    }
    document["running"] = running.map { running in
      [
        "id": JSONValue(Int64(running.id)), "trigger": JSONValue(running.trigger.rawValue),
        "step": JSONValue(running.step.rawValue), "ageMs": .milliseconds(running.age),
      ]
    }
    let refused = JSONValue.object()
    for (hash, reason) in self.refused.sorted(by: { $0.key < $1.key }) { refused[hash] = JSONValue(reason) }
    document["refused"] = refused
    return document
  }
}

extension EngineStatus.Canary {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = [
      "step": JSONValue(Int64(settings.shadow == nil ? step + 1 : step)),
      "steps": .array(of: settings.steps.map { JSONValue($0) }),
      "percent": JSONValue(settings.shares[step]), "holdMs": .milliseconds(hold),
      "transactions": JSONValue(Int64(settings.transactions)), "latency": JSONValue(settings.comparesLatency),
      "onSilence": JSONValue(settings.onSilence.rawValue),
      "candidate": candidate.document(), "control": control.document(),
      "changes": .array(of: changes.map { $0.document() }),
    ]
    document["ageMs"] = age.map { .milliseconds($0) }
    document["nextLook"] = nextLook.map { JSONValue(Int64(clamping: $0)) }
    document["failedLimit"] = limit.map { JSONValue(Int64(clamping: $0)) }
    document["latencies"] = latencies
    document["shadow"] = shadow.map { $0.document(settings.shadow ?? ShadowSettings()) }
    if case .header(let name) = settings.key { document["by"] = ["header": JSONValue(name)] }
    return document
  }
}

extension ShadowStatus {
  fileprivate func document(_ settings: ShadowSettings) -> JSONValue {
    [
      "percent": JSONValue(settings.share), "differences": JSONValue(Int64(settings.differences)),
      "same": JSONValue(Int64(same)), "different": JSONValue(Int64(different)),
      "notCompared": JSONValue(Int64(notCompared)), "waiting": JSONValue(Int64(waiting)),
      "dropped": JSONValue(Int64(dropped)), "ignored": .array(of: settings.ignored.sorted()),
      "findings": .array(of: findings),
    ]
  }
}

extension EngineStatus.Canary {
  /// The histograms of both arms with common bounds; nil if no transaction has ended.
  private var latencies: JSONValue? {
    let arms = [("candidate", candidate.counts.duration.groups), ("control", control.counts.duration.groups)]
    let used = arms.flatMap { arm in arm.1.indices.filter { arm.1[$0] > 0 } }
    guard let first = used.min(), let last = used.max() else { return nil }
    let document: JSONValue = [
      "fromMs": .array(of: (first...last).map { JSONValue(Double(LatencySnapshot.lowerBound(ofGroup: $0)) / 1e6) })
    ]
    for (name, groups) in arms {
      document[name] = .array(
        of: (first...last).map { JSONValue(Int64(clamping: groups.isEmpty ? 0 : groups[$0])) })
    }
    return document
  }
}

extension EngineStatus.Canary.Arm {
  fileprivate func document() -> JSONValue {
    let failed = Significance.Share(counts.unhealthy, of: counts.ended)
    let document: JSONValue = [
      "snapshot": JSONValue(Int64(snapshot)), "transactions": JSONValue(Int64(clamping: failed.total)),
      "failed": JSONValue(Int64(clamping: failed.count)),
      "failedPercent": .array(
        of: [failed.interval.lowerBound, failed.interval.upperBound].map { JSONValue($0 * 100) }),
    ]
    if !counts.duration.isEmpty {
      document["p50Ms"] = JSONValue(Double(counts.duration.p50) / 1e6)
      document["p99Ms"] = JSONValue(Double(counts.duration.p99) / 1e6)
    }
    return document
  }
}

extension EngineStatus.Generation {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = [
      "id": JSONValue(Int64(id)), "state": JSONValue("\(state)"), "library": JSONValue(library),
      "plugins": .array(of: plugins), "pluginId": JSONValue(pluginID),
      "version": JSONValue(version), "hash": JSONValue(hash), "leases": JSONValue(Int64(leases)),
      "suspended": JSONValue(Int64(suspended)), "completions": JSONValue(Int64(completions)),
      "timers": JSONValue(Int64(timers)), "openCalls": JSONValue(Int64(openCalls)),
      "violations": JSONValue(Int64(violations)), "holders": .array(of: holders.map { $0.document() }),
    ]
    document["reason"] = state.reason.map { JSONValue($0) }
    document["buildId"] = buildID.map { JSONValue($0) }
    return document
  }
}

extension EngineStatus.Wait {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = [
      "for": JSONValue(purpose.rawValue), "snapshot": JSONValue(Int64(snapshot)), "ageMs": .milliseconds(age),
    ]
    obstacle.describe(in: document)
    return document
  }
}

extension LoopObstacle {
  /// Sets `loop`, `hasDied` and `keptMs`. If the loop is in a call of a plugin, also sets `plugin`, `pluginId`,
  /// `generation`, `callback` and `transaction`.
  fileprivate func describe(in document: JSONValue) {
    document["loop"] = JSONValue(Int64(loop))
    document["hasDied"] = JSONValue(hasDied)
    document["keptMs"] = .milliseconds(age)
    guard let call else { return }
    document["plugin"] = JSONValue(call.plugin)
    document["pluginId"] = JSONValue(call.pluginID)
    document["generation"] = JSONValue(Int64(call.generation))
    document["callback"] = JSONValue(call.callback)
    document["transaction"] = call.transaction.map { JSONValue("\($0)") }
  }
}

extension EngineStatus.Stall {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = [
      "loop": JSONValue(Int64(loop)), "plugin": JSONValue(plugin), "pluginId": JSONValue(pluginID),
      "generation": JSONValue(Int64(generation)), "callback": JSONValue(callback), "ageMs": .milliseconds(age),
    ]
    document["transaction"] = transaction.map { JSONValue("\($0)") }
    return document
  }
}

extension RunningTransaction {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = ["transaction": JSONValue("\(id)"), "ageMs": .milliseconds(age)]
    document["suspendedIn"] = suspendedIn.map { JSONValue($0) }
    return document
  }
}

extension SwapReport {
  /// The report as a JSON document; docs/control.md describes its members.
  public func document() -> JSONValue {
    let document: JSONValue = [
      "id": JSONValue(Int64(id)), "trigger": JSONValue(trigger.rawValue), "at": JSONValue(UniversalTime.text(began)),
      "durationMs": .milliseconds(duration), "outcome": JSONValue(outcome.rawValue),
      "snapshot": JSONValue(Int64(snapshot)), "changes": .array(of: changes.map { $0.document() }),
    ]
    document["reason"] = reason.map { JSONValue($0) }
    document["endedCanary"] = endedCanary.map { JSONValue(Int64($0)) }
    document["canary"] = canary.map { canary in
      ["snapshot": JSONValue(Int64(canary.snapshot)), "percent": JSONValue(canary.percent)]
    }
    if !late.isEmpty {
      document["late"] = .array(
        of: late.map { obstacle in
          let document = JSONValue.object()
          obstacle.describe(in: document)
          return document
        })
    }
    return document
  }
}

extension SwapReport.Change {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = [
      "library": JSONValue(library), "plugins": .array(of: plugins),
    ]
    document["old"] = old.map { $0.document() }
    document["new"] = new.map { $0.document() }
    if !warnings.isEmpty { document["warnings"] = .array(of: warnings) }
    return document
  }
}

extension SwapReport.Build {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = ["hash": JSONValue(hash)]
    document["generation"] = generation.map { JSONValue(Int64($0)) }
    document["version"] = version.map { JSONValue($0) }
    document["buildId"] = buildID.map { JSONValue($0) }
    return document
  }
}
