import Glibc
import SluiceCrash
package import SluiceJSON
import SluiceMessages
package import SluicePluginHost
import SluiceSupport

extension TrialReport {
  /// Why the library is refused; nil if the trial found no fault.
  ///
  /// - Parameters:
  ///   - secrets: texts to remove from the message.
  ///   - showsOutput: whether the message has the last output of the process.
  package func failure(
    of subject: PluginError.Subject, secrets: TrialSecrets, showsOutput: Bool = true
  ) -> PluginError? {
    if let error = processFailure(subject) {
      return adding(showsOutput ? secrets.hidden(in: said) : nil, to: error)
    }
    guard let result else {
      return PluginError(.trialExited, subject, "ended its process \(place) without a result")
    }
    return result["error"].map { PluginError($0, subject) }
  }

  /// Whether the way in which the process ended shows a fault, whatever results the trial has reported.
  package var hasProcessFailure: Bool { processFailure(.plugin(name: nil, path: nil)) != nil }

  /// The fault that the end of the process shows, whatever results the trial has reported.
  private func processFailure(_ subject: PluginError.Subject) -> PluginError? {
    if hasLostChannel {
      return PluginError(
        .trialClosedDescriptors, subject, "closed descriptors that it had not opened \(place)",
        advice: "a plugin must close only descriptors that it has opened itself")
    }
    switch ending {
    case _ where isBeyondResult: break
    case .timedOut:
      return PluginError(
        .trialTimedOut, subject, "had not ended \(place) when the time limit of its trial passed",
        advice: "do slow work in activate, or give the trial more time (the key \"swap.trial\")")
    case .killed(let signal): return crash(signal, subject)
    case .exited(let code) where code != 0 || result == nil:
      return PluginError(
        .trialExited, subject, "ended the process with status \(code) \(place)",
        advice: "a plugin must return an error if it cannot continue, and must never call exit")
    case .exited: break
    }
    guard !leftProcesses.isEmpty else { return nil }
    let names = PlainText.line(Set(leftProcesses).sorted().joined(separator: ", "))
    return PluginError(
      .trialLeftProcess, subject, "started a process that continued after the trial (\(names)); it was killed",
      advice: "start no process in a constructor, the entry point or create")
  }

  private func crash(_ signal: Int32, _ subject: PluginError.Subject) -> PluginError {
    if signal == SIGXCPU {
      return PluginError(
        .trialTimedOut, subject, "used up the processor time of its trial \(place)",
        advice: "look for a loop that does not end")
    }
    let limit = signal == SIGXFSZ ? ", because a file grew beyond the limit" : ""
    return PluginError(
      .trialCrashed, subject, "crashed with \(SignalName.of(signal)) \(place)\(limit)",
      advice: "run \"sluice plugin validate\" on it, or load it in a debugger")
  }

  private var place: String { step ?? "before anything was tried" }

  /// The Swift runtime's message about the crash. If there is none, the last output of the process; nil if the process
  /// wrote nothing.
  private var said: String? {
    if let message = CrashReport.runtimeMessage(in: errorOutput.tail) { return String(message.prefix(400)) }
    let bytes = errorOutput.tail.isEmpty ? output.tail : errorOutput.tail
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline).suffix(3).map { line in
      PlainText.line(String(line))
    }
    let joined = lines.joined(separator: " / ")
    return joined.isEmpty ? nil : String(joined.suffix(400))
  }

  private func adding(_ said: String?, to error: PluginError) -> PluginError {
    guard let said else { return error }
    var error = error
    error.reason += "; it wrote: \(said)"
    return error
  }
}

extension PluginError {
  /// Makes an error from the form in which a trial reports it.
  init(_ document: JSONValue, _ subject: Subject) {
    func words(_ key: String) -> String? {
      document[key]?.string.map { PlainText.line($0, limitBytes: PluginText.reasonBytes) }
    }
    self.init(
      Code(rawValue: words("code") ?? ""), subject, words("reason") ?? "was refused", advice: words("advice"))
    if let name = document["name"]?.string { self = named(name) }
  }

  /// The form in which a trial reports the error; ``init(_:_:)`` reads it in the other process.
  package var document: JSONValue {
    let document: JSONValue = ["code": JSONValue(code.rawValue), "reason": JSONValue(reason)]
    document["advice"] = advice.map { JSONValue($0) }
    if case .plugin(let name?, _) = subject { document["name"] = JSONValue(name) }
    return document
  }
}

/// The texts of configurations and states that must not appear in a message. Every string that is long enough to be a
/// secret is one of them.
package struct TrialSecrets: Sendable {
  private static let shortestBytes = 6
  private var texts: Set<String> = []

  package init(_ documents: [JSONValue]) { for document in documents { collect(document) } }

  private mutating func collect(_ value: JSONValue) {
    switch value.kind {
    case .object: for (_, member) in value.members { collect(member) }
    case .array: for element in value.elements { collect(element) }
    case .string:
      if let text = value.string, text.utf8.count >= Self.shortestBytes { texts.insert(text) }
    default: break
    }
  }

  package func hidden(in text: String?) -> String? {
    guard let text else { return nil }
    return texts.sorted { $0.utf8.count > $1.utf8.count }.reduce(text) { $0.replacing($1, with: "…") }
  }
}
