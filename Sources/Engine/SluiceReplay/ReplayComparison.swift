import SluiceMessages
package import SluicePipeline

/// One difference in what a stage did, or in the result.
package struct ReplayDifference: Sendable, Hashable {
  package var attempt: Int
  package var hop: Int
  /// Nil for a difference in the result of the transaction.
  package var stage: String?
  package var callback: StageCall.Callback?
  /// What differs: `call`, `verdict`, `suspended`, `method`, `URL`, `status`, `header NAME`, `trailer NAME` or `body`;
  /// for a result also `error`, `message` or `attempts`.
  package var subject: String
  /// The value in the old build; nil if the stage did not change it, or was not called.
  package var old: String?
  package var new: String?
  /// Whether only the new build's value varies between two runs. `new` is then the value of one run.
  package var newVaries = false

  package init(
    attempt: Int = 0, hop: Int = 0, stage: String? = nil, callback: StageCall.Callback? = nil, subject: String,
    old: String?, new: String?, newVaries: Bool = false
  ) {
    self.attempt = attempt
    self.hop = hop
    self.stage = stage
    self.callback = callback
    self.subject = subject
    self.old = old
    self.new = new
    self.newVaries = newVaries
  }
}

/// What the old and the new build did with one recorded exchange.
package struct ReplayComparison: Sendable, Hashable {
  /// The index in the given recordings.
  package var index: Int
  /// Method and URL, with secrets hidden.
  package var request: String
  /// The differences in the order of the stages' calls; the result comes last.
  package var differences: [ReplayDifference]
  /// Values that differ between two runs of one build, which do not count.
  package var varying: [ReplayDifference]
  /// What was not compared, and why, in sentences.
  package var notCompared: [String] = []
  /// Whether the old build did what the recording says, so that ``differences`` are those of the new build.
  package private(set) var isOldAsRecorded = true
  /// All values of the facts in ``varying`` that may have become constant.
  var variations: [ReplayVariation] = []

  package var isSame: Bool { differences.isEmpty && notCompared.isEmpty }

  /// Compares runs of the old build with runs of the new one.
  ///
  /// - Parameters:
  ///   - old: all runs of the same exchange. With two or more runs, differences between them are reported separately.
  ///   - new: the same for the new build.
  ///   - ignored: the subjects that are not compared.
  package init(
    index: Int, request: String, old: [ReplayedExchange], new: [ReplayedExchange], ignoring ignored: Set<String> = []
  ) {
    self.index = index
    self.request = request
    let matching = ReplayMatching(old.map { ReplayFacts($0) }, new.map { ReplayFacts($0) }, ignoring: ignored)
    (differences, varying, variations) = (matching.differences, matching.varying, matching.variations)
    notCompared = matching.unclear.map {
      "\($0.placeText): \($0.subject) differs between two runs of one build"
    }
    isOldAsRecorded = old.allSatisfy(\.unansweredCallOuts.isEmpty)
    for name in Set((old + new).flatMap(\.unansweredCallOuts)).sorted() where !ignored.contains("call-out \(name)") {
      notCompared.append("call-out \(name): the recording has no answer; give one with --answer")
    }
  }

  /// Compares the outcome of the old build with the recorded outcome. If they differ, the replay is not what happened
  /// when the recording was made, so equal outcomes of both builds say little.
  package mutating func compare(with recorded: RecordedOutcome?, old: [ReplayedExchange]) {
    guard let recorded else {
      notCompared.append("result: the recording has no outcome; record again")
      isOldAsRecorded = false
      return
    }
    guard let run = old.first(where: { $0.outcome != recorded }) else { return }
    let replayed = run.outcome
    isOldAsRecorded = false
    func add(_ subject: String, _ before: String?, _ after: String?, _ reason: String = "") {
      guard before != after else { return }
      notCompared.append(
        "result: \(subject) is \(before ?? "none") in the recording, but \(after ?? "none") in the replay of the old build"
          + reason)
    }
    add("status", recorded.status.map { "\($0)" }, replayed.status.map { "\($0)" })
    let reason = run.error.flatMap { $0.code == "not_recorded" ? ": \($0.message)" : nil }
    add("error", recorded.errorText, replayed.errorText, reason ?? "")
  }
}

/// Compares the facts of old runs with those of new runs.
private struct ReplayMatching {
  private let old: [ReplayFacts]
  private let new: [ReplayFacts]
  private(set) var differences: [ReplayDifference] = []
  /// Values that vary between two runs of one build.
  private(set) var varying: [ReplayDifference] = []
  /// Facts that vary between two runs of one build although they must be compared.
  private(set) var unclear: [ReplayDifference] = []
  private(set) var variations: [ReplayVariation] = []

  init(_ old: [ReplayFacts], _ new: [ReplayFacts], ignoring ignored: Set<String>) {
    self.old = old
    self.new = new
    compare(ignored)
  }

  private mutating func compare(_ ignored: Set<String>) {
    for key in keys where ignored.isEmpty || !ignored.contains(key.part) {
      // If only one build made a call, only the call is reported, not everything that it did.
      if key.name != ReplayFacts.call, !isCalled(key.place, old) || !isCalled(key.place, new) { continue }
      compare(key)
    }
  }

  private mutating func compare(_ key: ReplayFacts.Key) {
    let (before, after) = (old.map { $0.facts[key] }, new.map { $0.facts[key] })
    let forms = (Set(before.map(\.?.form)), Set(after.map(\.?.form)))
    let values = before.compactMap(\.?.value)
    let outcomes = after.map { $0.map { $0.value.compared(with: values) } ?? .differs }
    // The first run of the new build that differs shows the difference.
    let shown = outcomes.firstIndex(of: .differs).map { after[$0] } ?? after.first ?? nil
    var difference = difference(key, (before.first ?? nil)?.text, shown?.text)
    difference.newVaries = Set(values).count <= 1 && Set(after.compactMap(\.?.value)).count > 1
    if forms.0.isDisjoint(with: forms.1) {
      differences.append(difference)
    } else if forms.0.count > 1 || forms.1.count > 1 {
      noteUnclear(difference)
    } else if outcomes.allSatisfy({ $0 == .differs }) {
      differences.append(difference)
    } else if outcomes.contains(where: { $0 != .same }) {
      noteUnclear(difference)
    } else if Set(values).count > 1 {
      varying.append(difference)
      if ReplayFacts.mayVary.contains(key.name) { return }
      variations.append(ReplayVariation(place: varying.count - 1, key: key, old: values, new: after.map { $0?.value }))
    }
  }

  private mutating func noteUnclear(_ difference: ReplayDifference) {
    if ReplayFacts.mayVary.contains(difference.subject) {
      varying.append(difference)
    } else {
      unclear.append(difference)
    }
  }

  /// All keys, in the order of the first old run. A key that only another run has is inserted after the key that comes
  /// before it in that run.
  private var keys: [ReplayFacts.Key] {
    var keys: [ReplayFacts.Key] = []
    var known: Set<ReplayFacts.Key> = []
    for facts in old + new {
      var place = 0
      for key in facts.keys {
        if known.insert(key).inserted {
          keys.insert(key, at: place)
          place += 1
        } else if let found = keys.firstIndex(of: key) {
          place = found + 1
        }
      }
    }
    return keys
  }

  private func isCalled(_ place: ReplayFacts.Place, _ runs: [ReplayFacts]) -> Bool {
    place.stage == nil || runs.allSatisfy { $0.facts[ReplayFacts.Key(place: place, name: ReplayFacts.call)] != nil }
  }

  private func difference(_ key: ReplayFacts.Key, _ old: String?, _ new: String?) -> ReplayDifference {
    let isCall = key.name == ReplayFacts.call
    return ReplayDifference(
      attempt: key.place.attempt, hop: key.place.hop, stage: key.place.stage, callback: key.place.callback,
      subject: key.name, old: isCall ? old.map { _ in "called" } : old, new: isCall ? new.map { _ in "called" } : new)
  }
}
