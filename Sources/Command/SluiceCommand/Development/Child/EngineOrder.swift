import Glibc
import SluiceJSON

/// The settings for the engine's process at its start: the first document on its channel.
struct EngineOrder: Sendable {
  /// The absolute path of the configuration.
  var configuration: String
  /// The process id of the supervisor.
  var parent: pid_t = getpid()
  /// The files from which the engine reads the configuration and libraries instead of from their own paths. The keys
  /// are these paths.
  var sources: [String: String] = [:]
  /// `HOST:PORT` of the socket that the process inherits; nil without an endpoint.
  var listen: String?
  /// The file for the record of a crash.
  var crashRecord: String?

  var document: JSONValue {
    let document: JSONValue = [
      "configuration": JSONValue(configuration), "parent": JSONValue(Int64(parent)),
      "sources": Self.document(of: sources),
    ]
    document["listen"] = listen.map { JSONValue($0) }
    document["crashRecord"] = crashRecord.map { JSONValue($0) }
    return document
  }

  static func document(of sources: [String: String]) -> JSONValue {
    let document = JSONValue.object()
    for (path, file) in sources { document[path] = JSONValue(file) }
    return document
  }
}

extension EngineOrder {
  init?(_ document: JSONValue) {
    guard let configuration = document["configuration"]?.string, let parent = document["parent"]?.integer else {
      return nil
    }
    self.init(configuration: configuration, parent: pid_t(truncatingIfNeeded: parent))
    for (path, file) in document["sources"].map({ Array($0.members) }) ?? [] { sources[path] = file.string }
    listen = document["listen"]?.string
    crashRecord = document["crashRecord"]?.string
  }
}
