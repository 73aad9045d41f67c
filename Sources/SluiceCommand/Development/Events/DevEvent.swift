import Sluice
import SluiceAssembly
import SluiceJSON

/// Something that happened in `sluice dev`: a line for people, a document for programs. docs/command.md lists them.
struct DevEvent: Sendable {
  /// The member `event` of the document.
  enum Name: String, Sendable, CaseIterable {
    case started, changed, building, built, swapped, refused, unchanged, reloaded, request, difference, crashed
    case restarted, waiting, log, output, stopped
    case buildFailed = "build-failed"
    case rolledBack = "rolled-back"
  }

  /// How good or bad the news of a line is.
  enum Tone: Sendable { case plain, good, bad, doubtful, quiet }

  let name: Name
  /// The plugins that the event is about, by their names in the configuration.
  var plugins: [String] = []
  /// The line for people; empty if people need not see the event.
  var text = ""
  /// Further lines, such as messages of a compiler or a backtrace. Only `sluice` itself colours them.
  var details: [String] = []
  var tone = Tone.plain
  /// The members of the document besides `event`, `at` and `plugins`.
  var members: JSONValue = .object()

  init(_ name: Name, plugins: [String] = [], _ text: String = "", tone: Tone = .plain) {
    self.name = name
    self.plugins = plugins
    self.text = text
    self.tone = tone
  }

  func with(_ key: String, _ value: JSONValue?) -> DevEvent {
    members[key] = value
    return self
  }

  func document(at moment: Duration) -> JSONValue {
    let document: JSONValue = [
      "event": JSONValue(name.rawValue), "at": JSONValue(UniversalTime.text(moment)),
    ]
    if !plugins.isEmpty { document["plugins"] = .array(of: plugins) }
    for (key, value) in members.members { document[key] = value }
    return document
  }
}

extension JSONValue {
  /// The strings of a list; empty for anything else.
  var texts: [String] { elements.compactMap(\.string) }
}
