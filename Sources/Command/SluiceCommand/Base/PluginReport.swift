import SluiceAssembly
import SluiceJSON
import SluicePluginFile
import SluicePluginHost

/// The facts about one library, and whether this host would accept it.
struct PluginReport {
  let path: String
  private let facts: LibraryFacts?
  /// Why the library cannot be used.
  let error: PluginError?

  /// - Parameter allowed: what a configuration allows the library to do.
  init(_ path: String, allowing allowed: Set<LibraryHazard> = []) {
    self.path = path
    do throws(PluginError) {
      let image = try LibraryImage(reading: path)
      let facts = try LibraryFacts(of: image)
      self.facts = facts
      error = facts.refusal(by: HostOffer(allowed: allowed), at: path)
    } catch {
      facts = nil
      self.error = error
    }
  }

  /// What a swap to another build of this library will not replace.
  var swapWarnings: [String] { facts?.swapWarnings ?? [] }

  /// The report for people. In the report, texts from the file contain no control characters, and never begin a line.
  var text: String {
    let path = PrintableText.line(self.path)
    guard let facts else { return "\(path): no plugin\n" }
    var rows: [(String, String)] = [
      ("verdict", error == nil ? "usable" : "refused"), ("language", facts.language.rawValue),
      ("machine", facts.machine),
    ]
    if let note = facts.note {
      rows.append(("version", note.version ?? "in its table"))
      rows.append(
        ("ABI", note.abi.count == 1 ? "\(note.abi.lowerBound)" : "\(note.abi.lowerBound) to \(note.abi.upperBound)"))
    }
    let required = facts.requiredFeatures.names
    rows.append(("requires", required.isEmpty ? "nothing" : required.joined(separator: ", ")))
    if let runtime = facts.swiftRuntime { rows.append(("Swift runtime", runtime.name)) }
    rows.append(("libraries", facts.needed.joined(separator: ", ")))
    rows.append(("SHA-256", "\(facts.hash)"))
    if let buildID = facts.buildID { rows.append(("build id", buildID)) }
    rows.append(("size", "\(Figures.count(facts.sizeBytes)) bytes, \(facts.exportedSymbolCount) exported symbols"))
    for warning in Self.warnings(facts) { rows.append(("warning", warning)) }
    return "\(path)\n" + rows.map { Self.line($0.0, $0.1) }.joined()
  }

  /// Warnings about what can go wrong in a swap, and about exported symbols that nothing needs. A mangled Swift symbol
  /// contains the name of its module, so such symbols collide only if two modules have the same name.
  private static func warnings(_ facts: LibraryFacts) -> [String] {
    guard !facts.strayExports.isEmpty else { return facts.warnings }
    let shown = facts.strayExports.prefix(shownExports).joined(separator: ", ")
    let more = facts.strayExports.count > shownExports ? ", …" : ""
    let count = facts.strayExports.count == 1 ? "1 symbol" : "\(facts.strayExports.count) symbols"
    return facts.warnings + [
      "exports \(count) besides its entry point (\(shown)\(more)); the loader can merge them with those of another "
        + "library: make them static, or compile with -fvisibility=hidden"
    ]
  }

  private static let shownExports = 5

  private static func line(_ name: String, _ value: String) -> String {
    "  \(name)\(String(repeating: " ", count: 15 - name.count))\(PrintableText.line(value))\n"
  }

  var document: JSONValue {
    let document: JSONValue = ["path": JSONValue(path), "usable": JSONValue(error == nil)]
    if let facts { add(facts, to: document) }
    if let error {
      document["error"] = ["code": JSONValue(error.code.rawValue), "message": JSONValue(error.description)]
    }
    return document
  }

  private func add(_ facts: LibraryFacts, to document: JSONValue) {
    document["language"] = JSONValue(facts.language.rawValue)
    document["machine"] = JSONValue(facts.machine)
    if let note = facts.note {
      document["version"] = note.version.map { JSONValue($0) }
      document["abi"] = [JSONValue(Int64(note.abi.lowerBound)), JSONValue(Int64(note.abi.upperBound))]
    }
    document["requires"] = .array(of: facts.requiredFeatures.names)
    document["swiftRuntime"] = facts.swiftRuntime.map { JSONValue($0.name) }
    document["hazards"] = .array(of: facts.hazards.sorted().map(\.rawValue))
    document["needed"] = .array(of: facts.needed)
    document["sha256"] = JSONValue("\(facts.hash)")
    document["buildId"] = facts.buildID.map { JSONValue($0) }
    document["sizeBytes"] = JSONValue(Int64(facts.sizeBytes))
    document["warnings"] = .array(of: Self.warnings(facts))
  }
}

extension LibraryFacts.SwiftRuntime {
  fileprivate var name: String {
    switch self {
    case .shared: "shared"
    case .own: "static"
    case .mixed: "mixed"
    }
  }
}
