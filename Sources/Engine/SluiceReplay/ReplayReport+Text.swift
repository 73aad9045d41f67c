import SluicePipeline

extension ReplayReport {
  /// The report for people, one difference on each line, without a final line end.
  ///
  /// A difference that several exchanges share is shown once, with the numbers of those exchanges.
  ///
  /// - Parameter limit: maximum number of groups to show. The exchanges of a group have the same differences.
  public func text(showing limit: Int = 10) -> String {
    let failed = failures.map { "\($0.side.rawValue): \($0.error)" }
    return (failed + [summary(differing.count)] + findings(showing: limit)).joined(separator: "\n")
  }

  private var differing: [ReplayComparison] { comparisons.filter { !$0.differences.isEmpty } }

  /// The lines of the text after its summary.
  package func findings(showing limit: Int = 10) -> [String] {
    var lines: [String] = []
    let groups = ReplayGroup.all(of: differing)
    for group in groups.prefix(limit) { lines += group.lines }
    let hidden = groups.dropFirst(limit).reduce(into: Set<Int>()) { $0.formUnion($1.exchanges.map(\.index)) }
    if !hidden.isEmpty { lines.append("and \(hidden.count) more that differ") }
    let varying = Set(comparisons.flatMap { $0.varying.map(\.subjectLine) }).sorted()
    if !varying.isEmpty {
      let more = varying.count > limit ? " and \(varying.count - limit) more" : ""
      lines.append("varies between runs of one build: " + varying.prefix(limit).joined(separator: ", ") + more)
    }
    let reasons = comparisons.flatMap { comparison in comparison.notCompared.map { ($0, comparison.index + 1) } }
    lines += Self.lines(reasons, "not compared", limit)
    return lines + Self.lines(omissions.map { ($0.reason, $0.index + 1) }, "not replayed", limit)
  }

  private func summary(_ differing: Int) -> String {
    guard !comparisons.isEmpty else { return "nothing was compared" }
    let compared = comparisons.count == 1 ? "1 request" : "\(comparisons.count) requests"
    let same = comparisons.count(where: \.isSame)
    if same == comparisons.count { return "\(compared): same" }
    let unclear = comparisons.count - differing - same
    let words = [
      differing == 0 ? nil : "\(differing) \(differing == 1 ? "differs" : "differ")", "\(same) same",
      unclear == 0 ? nil : "\(unclear) not compared completely",
    ]
    return "\(compared): " + words.compactMap(\.self).joined(separator: ", ")
  }

  /// What was not done; one line for each reason, with the numbers of its exchanges.
  private static func lines(_ reasons: [(reason: String, number: Int)], _ what: String, _ limit: Int) -> [String] {
    let groups = Dictionary(grouping: reasons) { $0.reason }.mapValues { $0.map(\.number) }
    let lines = groups.sorted { ($0.value[0], $0.key) < ($1.value[0], $1.key) }.map { reason, numbers in
      "request\(numbers.count == 1 ? "" : "s") \(ReplayGroup.numbers(numbers)): \(what): \(ReplayText.line(reason))"
    }
    let more = lines.count > limit ? ["and \(lines.count - limit) more that were \(what)"] : []
    return lines.prefix(limit) + more
  }
}

/// Differences that the same exchanges share.
private struct ReplayGroup {
  /// Maximum number of differences of a group that are shown.
  private static let shownDifferences = 20
  /// Maximum number of ranges of numbers that are shown.
  private static let shownRanges = 10

  let exchanges: [ReplayComparison]
  private var differences: [ReplayDifference] = []

  private init(_ exchanges: [ReplayComparison]) { self.exchanges = exchanges }

  /// Groups the differences, each into exactly one group, ordered by the group's first exchange.
  static func all(of comparisons: [ReplayComparison]) -> [ReplayGroup] {
    var owners: [ReplayDifference: [Int]] = [:]
    for (place, comparison) in comparisons.enumerated() {
      for difference in Set(comparison.differences.map(\.shared)) { owners[difference, default: []].append(place) }
    }
    var groups: [ReplayGroup] = []
    var places: [[Int]: Int] = [:]
    var told: Set<ReplayDifference> = []
    for difference in comparisons.flatMap(\.differences) where told.insert(difference.shared).inserted {
      guard let owners = owners[difference.shared] else { continue }
      let place = places[owners] ?? groups.count
      if place == groups.count {
        places[owners] = place
        groups.append(ReplayGroup(owners.map { comparisons[$0] }))
      }
      groups[place].differences.append(difference)
    }
    return groups
  }

  var lines: [String] {
    var lines = [title]
    var place = ""
    for difference in differences.prefix(Self.shownDifferences) {
      if difference.placeText != place {
        place = difference.placeText
        lines.append("  \(place)")
      }
      lines.append("    \(difference.changeText)")
    }
    let hidden = differences.count - Self.shownDifferences
    return hidden > 0 ? lines + ["  and \(hidden) more differences"] : lines
  }

  /// The exchanges of a group: `request 2, GET …` or `requests 1 to 3, 5, GET … and others`.
  private var title: String {
    let request = exchanges.first?.request ?? ""
    let others = exchanges.allSatisfy { $0.request == request } ? "" : " and others"
    return
      "request\(exchanges.count == 1 ? "" : "s") \(Self.numbers(exchanges.map { $0.index + 1 })), \(request)\(others)"
  }

  static func numbers(_ numbers: [Int]) -> String {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound + 1 == number {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    let shown = ranges.prefix(shownRanges).map { range in
      range.count == 1
        ? "\(range.lowerBound)" : "\(range.lowerBound)\(range.count == 2 ? ", " : " to ")\(range.upperBound)"
    }
    let hidden = ranges.dropFirst(shownRanges).reduce(0) { $0 + $1.count }
    return shown.joined(separator: ", ") + (hidden > 0 ? " and \(hidden) more" : "")
  }
}

extension ReplayComparison {
  /// One line with the request and its first difference. Without differences there is no such line.
  var example: String? { differences.first.map { "\(request): \($0.placeText): \($0.changeText)" } }
}

extension ReplayDifference {
  var placeText: String {
    guard let stage else { return "result" }
    let turn = attempt == 0 && hop == 0 ? "" : " (attempt \(attempt + 1), hop \(hop + 1))"
    return "\(stage), \(callback?.rawValue ?? "")\(turn)"
  }

  /// The difference without what is only an example, so that exchanges can share it.
  fileprivate var shared: ReplayDifference {
    var shared = self
    if newVaries { shared.new = nil }
    return shared
  }

  fileprivate var subjectLine: String { "\(stage ?? "result") \(subject)" }

  fileprivate var changeText: String {
    if subject == ReplayFacts.call { return old == nil ? "is called now" : "is not called any more" }
    let untouched = stage == nil ? "none" : "left alone"
    let varies = newVaries ? ", which varies" : ""
    return "\(subject): \(ReplayText.line(old ?? untouched)) → \(ReplayText.line(new ?? untouched))\(varies)"
  }
}
