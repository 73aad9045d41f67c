public import SluiceJSON
import SluicePipeline
import SluicePluginHost

extension ReplayReport {
  /// The report for programs:
  ///
  ///     {"same": false, "failures": [{"side": "new", "code": "…", "message": "…"}],
  ///      "requests": [{"index": 0, "request": "GET https://…", "differences": [{ difference }], "varying": […],
  ///                    "notCompared": ["…"]}],
  ///      "omitted": [{"index": 3, "reason": "…"}]}
  ///
  ///     difference := {"attempt": 0, "hop": 0, "stage": "…", "callback": "on_request", "subject": "header x-a",
  ///                    "old": "1", "new": "2"}
  ///
  /// `stage` and `callback` are missing in a difference of the result. `old` or `new` is missing if that build changed
  /// nothing there. `"newVaries": true` is added if only the value of the new build varies between two runs; `new` is
  /// then the value of one run.
  public var document: JSONValue {
    [
      "same": JSONValue(isSame),
      "failures": .array(
        of:
          failures.map {
            [
              "side": JSONValue($0.side.rawValue), "code": JSONValue($0.error.code.rawValue),
              "message": JSONValue($0.error.description),
            ]
          }),
      "requests": .array(of: comparisons.map(\.document)),
      "omitted": .array(of: omissions.map { ["index": JSONValue(Int64($0.index)), "reason": JSONValue($0.reason)] }),
    ]
  }
}

extension ReplayComparison {
  fileprivate var document: JSONValue {
    [
      "index": JSONValue(Int64(index)), "request": JSONValue(request),
      "differences": .array(of: differences.map(\.document)), "varying": .array(of: varying.map(\.document)),
      "notCompared": .array(of: notCompared),
    ]
  }
}

extension ReplayDifference {
  fileprivate var document: JSONValue {
    let document: JSONValue = ["attempt": JSONValue(Int64(attempt)), "hop": JSONValue(Int64(hop))]
    document["stage"] = stage.map { JSONValue($0) }
    document["callback"] = callback.map { JSONValue($0.rawValue) }
    document["subject"] = JSONValue(subject)
    document["old"] = old.map { JSONValue($0) }
    document["new"] = new.map { JSONValue($0) }
    if newVaries { document["newVaries"] = true }
    return document
  }
}
