import SluicePipeline

extension ReplayReport {
  /// The report for people, one difference to a line; no line end behind the last.
  ///
  /// - Parameter limit: of how many differing exchanges the differences are shown.
  public func text(showing limit: Int = 10) -> String {
    var lines = failures.map { "\($0.side.rawValue): \($0.error)" }
    let differing = comparisons.filter { !$0.isSame }
    lines.append(summary(differing.count))
    for comparison in differing.prefix(limit) { lines += comparison.lines }
    if differing.count > limit { lines.append("and \(differing.count - limit) more that differ") }
    let varying = Set(comparisons.flatMap { $0.varying.map(\.subjectLine) }).sorted()
    if !varying.isEmpty { lines.append("varies by itself: " + varying.joined(separator: ", ")) }
    lines += omissions.prefix(limit).map { "request \($0.index + 1): not replayed: \($0.reason)" }
    if omissions.count > limit { lines.append("and \(omissions.count - limit) more that were not replayed") }
    return lines.joined(separator: "\n")
  }

  private func summary(_ differing: Int) -> String {
    guard !comparisons.isEmpty else { return "nothing was compared" }
    let compared = comparisons.count == 1 ? "1 request" : "\(comparisons.count) requests"
    if differing == 0 { return "\(compared): same" }
    return "\(compared): \(differing) \(differing == 1 ? "differs" : "differ"), \(comparisons.count - differing) same"
  }
}

extension ReplayComparison {
  fileprivate var lines: [String] {
    var lines = ["request \(index + 1), \(request)"]
    var place = ""
    for difference in differences {
      if difference.placeText != place {
        place = difference.placeText
        lines.append("  \(place)")
      }
      lines.append("    \(difference.changeText)")
    }
    return lines
  }
}

extension ReplayDifference {
  fileprivate var placeText: String {
    guard let stage else { return "result" }
    let turn = attempt == 0 && hop == 0 ? "" : " (attempt \(attempt + 1), hop \(hop + 1))"
    return "\(stage), \(callback?.rawValue ?? "")\(turn)"
  }

  fileprivate var subjectLine: String { "\(stage ?? "result") \(subject)" }

  fileprivate var changeText: String {
    if subject == ReplayFacts.call { return old == nil ? "is called now" : "is not called any more" }
    let untouched = stage == nil ? "none" : "left alone"
    return "\(subject): \(ReplayText.line(old ?? untouched)) → \(ReplayText.line(new ?? untouched))"
  }
}
