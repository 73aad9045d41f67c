import Sluice
import SluiceAssembly
import SluiceJSON

/// An event in `sluice dev`: a line for people and a document for programs. docs/command/dev.md lists the events.
struct DevEvent: Sendable {
  /// The member `event` of the document.
  enum Name: String, Sendable, CaseIterable {
    case started, changed, building, built, swapped, refused, unchanged, reloaded, request, difference, crashed
    case restarted, waiting, log, output, stopped
    case buildFailed = "build-failed"
    case rolledBack = "rolled-back"
  }

  /// Whether a line reports good or bad news.
  enum Tone: Sendable { case plain, good, bad, doubtful, quiet }

  let name: Name
  /// The plugins that the event is about, by the names that the configuration gives them.
  var plugins: [String] = []
  /// The line for people; empty if the event is only for programs.
  var text = ""
  /// Further lines, such as messages of a compiler or a backtrace. Only `sluice` adds colours to them.
  var details: [String] = []
  var tone = Tone.plain
  /// The members of the document other than `event`, `at` and `plugins`.
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
  /// The strings of a list; empty if the value is not a list.
  var texts: [String] { elements.compactMap(\.string) }
}
