import SluiceJSON

/// An event log with one change, made at random.
struct EventLogDamage {
  let lines: [String]
  /// A description of the change, for the message of a failed test.
  let what: String
  /// Whether the change certainly breaks a rule: it removes, repeats, moves or cuts a line, or changes `sequence`,
  /// `attempt` or `hop`.
  let isCertain: Bool

  private static let members = [
    "event", "transaction", "sequence", "timeNs", "attempt", "hop", "snapshot", "requestId", "method", "url", "status",
    "receivedStatus", "outcome", "error", "delayNs", "durationNs", "timings", "traceId", "spanId", "parentSpanId",
    "attributes",
  ]

  /// - Parameter log: the lines of a log that has `sequence` and breaks no rule.
  init(of log: [String], random: inout some RandomNumberGenerator) throws {
    let index = Int.random(in: log.indices, using: &random)
    var lines = log
    switch Int.random(in: 0..<20, using: &random) {
    case 0:
      lines.remove(at: index)
      self.init(lines, "without line \(index + 1)", isCertain: true)
    case 1:
      lines.insert(log[index], at: index)
      self.init(lines, "line \(index + 1) twice", isCertain: true)
    case 2, 3:
      let transaction = try JSONValue(parsing: log[index])["transaction"]?.string ?? ""
      let others = log.indices.filter { $0 != index && log[$0].contains(transaction) }
      let other = others.randomElement(using: &random) ?? index
      lines.swapAt(index, other)
      self.init(lines, "lines \(index + 1) and \(other + 1) swapped", isCertain: other != index)
    case 4:
      lines[index] = String(log[index].prefix(Int.random(in: 0..<log[index].count, using: &random)))
      self.init(lines, "line \(index + 1) cut: \(lines[index])", isCertain: true)
    default:
      let document = try JSONValue(parsing: log[index])
      let name = Self.change(document, log, &random)
      lines[index] = try document.serializedText()
      // These members number the events, so every change of them breaks a rule.
      let isCertain = ["sequence", "attempt", "hop"].contains(name) && lines[index] != log[index]
      self.init(lines, "\(name) of line \(index + 1): \(log[index]) became \(lines[index])", isCertain: isCertain)
    }
  }

  private init(_ lines: [String], _ what: String, isCertain: Bool) {
    self.lines = lines
    self.what = what
    self.isCertain = isCertain
  }

  /// Removes, adds or changes one member, and returns its name.
  private static func change(
    _ document: JSONValue, _ log: [String], _ random: inout some RandomNumberGenerator
  ) -> String {
    let present = document.members.map(\.key)
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let name = present.randomElement(using: &random) ?? ""
      document.removeMember(name)
      return name
    case 1:
      let name = (members.filter { !present.contains($0) } + ["more"]).randomElement(using: &random) ?? "more"
      document[name] = added(name, &random)
      return name
    default:
      let name = present.randomElement(using: &random) ?? ""
      if let value = document[name] { document[name] = changed(name, value, log, &random) }
      return name
    }
  }

  private static func added(_ name: String, _ random: inout some RandomNumberGenerator) -> JSONValue {
    switch name {
    case "status", "receivedStatus":
      let statuses: [Int64] = [0, 103, 200, 302, 503]
      return JSONValue(statuses.randomElement(using: &random) ?? 0)
    case "outcome": return JSONValue(["succeeded", "failed", "cancelled"].randomElement(using: &random) ?? "")
    case "error": return ["code": "connection_lost", "message": "m"]
    case "traceId": return JSONValue(String(repeating: "0123456789abcdef", count: 2))
    case "spanId", "parentSpanId": return "0123456789abcdef"
    case "timings":
      return [
        "queueNs": 0, "dnsNs": 0, "connectNs": 0, "tlsNs": 0, "sendNs": 0, "waitNs": 0, "receiveNs": 0,
      ]
    default: return JSONValue(Int64.random(in: 0...1, using: &random))
    }
  }

  private static func changed(
    _ name: String, _ value: JSONValue, _ log: [String], _ random: inout some RandomNumberGenerator
  ) -> JSONValue {
    switch name {
    case "event": return JSONValue(EventLine.names.randomElement(using: &random) ?? "")
    case "outcome": return added(name, &random)
    case "traceId", "spanId", "parentSpanId": return Bool.random(using: &random) ? added(name, &random) : "0"
    case "transaction":
      let other = log.randomElement(using: &random).flatMap { try? JSONValue(parsing: $0)["transaction"] }
      return Bool.random(using: &random) ? other ?? value : "01234567-89ab-4def-8123-456789abcdef"
    case "error": return changedError(value, &random)
    case "timings":
      let phases = value.members.map(\.key).filter { $0.hasSuffix("Ns") }
      let phase = phases.randomElement(using: &random) ?? ""
      if let old = value[phase]?.integer { value[phase] = JSONValue(otherNumber(than: old, &random)) }
      if Int.random(in: 0..<5, using: &random) == 0 { value.removeMember(phase) }
      return value
    default: break
    }
    if let number = value.integer { return JSONValue(otherNumber(than: number, &random)) }
    return JSONValue((value.string ?? "") + "x")
  }

  private static func changedError(_ value: JSONValue, _ random: inout some RandomNumberGenerator) -> JSONValue {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: value["code"] = "cancelled"
    case 1: value["code"] = "not_processed"
    case 2: value["stage"] = "tenant"
    default: value.removeMember(["code", "message", "stage"].randomElement(using: &random) ?? "")
    }
    return value
  }

  private static func otherNumber(than number: Int64, _ random: inout some RandomNumberGenerator) -> Int64 {
    let others: [Int64] = [
      number + 1, number - 1, number + 2, 0, 1, 99, 100, 103, 200, 302, 401, 503, 1000, number / 2,
      number + 500_000, number + 10_000_000, number + 10_000_000_000, number - 10_000_000,
    ]
    return others.filter { $0 != number }.randomElement(using: &random) ?? 0
  }
}
