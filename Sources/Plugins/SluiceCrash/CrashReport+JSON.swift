public import SluiceJSON
import SluiceMessages
import SluiceSupport

extension CrashReport {
  /// The report as a JSON document, for programs; docs/plugin-development.md describes its members.
  public func document() -> JSONValue {
    let document: JSONValue = [
      "at": JSONValue((moment / .milliseconds(1)) / 1000), "process": JSONValue(Int64(process)),
      "thread": ["id": JSONValue(Int64(thread)), "name": JSONValue(threadName)],
      "signal": JSONValue(SignalName.of(signal)), "reason": JSONValue(reason), "headline": JSONValue(headline),
      "cause": JSONValue(causeWord), "complete": JSONValue(isComplete),
    ]
    document["message"] = message.map { JSONValue($0) }
    document["call"] = call?.document()
    document["build"] = blamed?.document()
    document["otherCalls"] = .array(of: otherCalls.map { $0.document() })
    document["frames"] = .array(of: frames.map { $0.document() })
    return document
  }

  /// The JSON text of ``document()``.
  public var json: String { document().description }

  private var causeWord: String {
    switch cause {
    case .code: "plugin"
    case .calledBy: "calledByPlugin"
    case .threadOf: "pluginThread"
    case .host: "host"
    }
  }
}

extension CrashReport.Call {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = [
      "callback": JSONValue(callback), "attempt": JSONValue(Int64(attempt)), "build": build.document(),
      "thread": ["id": JSONValue(Int64(thread)), "name": JSONValue(threadName)],
    ]
    document["transaction"] = transaction.map { JSONValue($0.description) }
    return document
  }
}

extension CrashReport.Build {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = [
      "generation": JSONValue(Int64(generation)), "library": JSONValue(library), "hash": JSONValue(hash),
    ]
    document["stage"] = stage.map { JSONValue($0) }
    document["plugin"] = plugin.map { JSONValue($0) }
    return document
  }
}

extension CrashReport.Frame {
  fileprivate func document() -> JSONValue {
    let document: JSONValue = ["address": JSONValue(SignalText.hex(address)), "owner": JSONValue(ownerWord)]
    document["file"] = file.map { JSONValue($0) }
    document["offset"] = offset.map { JSONValue(SignalText.hex($0)) }
    document["function"] = function.map { JSONValue($0) }
    document["source"] = source.map { JSONValue($0) }
    return document
  }

  private var ownerWord: String {
    switch owner {
    case .plugin: "plugin"
    case .host: "host"
    case .library: "library"
    case .nowhere: "nowhere"
    }
  }
}
