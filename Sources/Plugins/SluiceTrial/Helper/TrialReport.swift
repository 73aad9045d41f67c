package import SluiceJSON
import SluiceMessages
import SluiceSupport

/// The result of a trial in a child process. The helper sends it as one line of JSON.
package struct TrialReport: Sendable {
  package enum Ending: Sendable, Hashable {
    case exited(Int32)
    case killed(signal: Int32)
    /// The process had not ended at the deadline and was killed.
    case timedOut

    init(_ status: WaitStatus) {
      switch status {
      case .exited(let code): self = .exited(code)
      case .killed(let signal): self = .killed(signal: signal)
      }
    }
  }

  /// The output that the process wrote to one of its standard streams.
  package struct Output: Sendable, Hashable {
    package var byteCount = 0
    /// The end of the output.
    package var tail: [UInt8] = []
  }

  package var ending: Ending
  /// The step during which the process ended, as the end of a sentence: `in create of "auth"`.
  package var step: String?
  /// The trial's own result; nil if the trial did not get that far.
  package var result: JSONValue?
  /// The results of the parts of the task that were completed.
  package var items: [JSONValue] = []
  package var output = Output()
  package var errorOutput = Output()
  /// The names of processes that the trial started and that continued after its end. These processes were killed.
  package var leftProcesses: [String] = []
  /// Whether code of the library has closed the child's channel to the supervisor.
  package var hasLostChannel = false
  /// Why the machine did not let the trial begin; nil if it has begun.
  package var hindrance: String?

  package init(ending: Ending) { self.ending = ending }

  /// The key of ``changes`` in the result of a trial.
  static let changesKey = "changes"

  /// What calls of the library have changed in the process, as sentences about the library.
  var changes: [String] { result?[Self.changesKey].map { $0.elements.compactMap(\.string) } ?? [] }
}

extension TrialReport {
  package var line: [UInt8] {
    let document = JSONValue.object()
    switch ending {
    case .exited(let code): document["exited"] = JSONValue(Int64(code))
    case .killed(let signal): document["killed"] = JSONValue(Int64(signal))
    case .timedOut: document["timedOut"] = true
    }
    document["step"] = step.map { JSONValue($0) }
    document["result"] = result
    if !items.isEmpty { document["items"] = .array(of: items) }
    document["output"] = Self.document(output)
    document["errorOutput"] = Self.document(errorOutput)
    document["leftProcesses"] = .array(of: leftProcesses)
    if hasLostChannel { document["lostChannel"] = true }
    document["hindrance"] = hindrance.map { JSONValue($0) }
    return ((try? document.serialized()) ?? []) + [UInt8(ascii: "\n")]
  }

  /// Reads a report; nil if the line is not a report.
  package init?(line: some Sequence<UInt8>) {
    guard let document = try? JSONValue(parsing: line, options: .allowNUL), document.isObject else { return nil }
    if let code = document["exited"]?.integer {
      ending = .exited(Int32(clamping: code))
    } else if let signal = document["killed"]?.integer {
      ending = .killed(signal: Int32(clamping: signal))
    } else if document["timedOut"]?.bool == true {
      ending = .timedOut
    } else {
      return nil
    }
    step = document["step"]?.string
    result = document["result"]
    items = document["items"].map { Array($0.elements) } ?? []
    output = Self.output(document["output"])
    errorOutput = Self.output(document["errorOutput"])
    hasLostChannel = document["lostChannel"]?.bool == true
    hindrance = document["hindrance"]?.string
    leftProcesses = document["leftProcesses"].map { $0.elements.compactMap(\.string) } ?? []
  }

  private static func document(_ output: Output) -> JSONValue {
    [
      "bytes": JSONValue(Int64(output.byteCount)),
      "tail": JSONValue(String(decoding: Base64.encode(output.tail), as: UTF8.self)),
    ]
  }

  private static func output(_ document: JSONValue?) -> Output {
    Output(
      byteCount: Int(clamping: document?["bytes"]?.integer ?? 0),
      tail: document?["tail"]?.string.flatMap { Base64.decode(Array($0.utf8)) } ?? [])
  }
}
