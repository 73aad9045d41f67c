import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// Event logs of `sluice run` against a faulty server. Two checkers that share no code read them: `verify-trace` and
/// ``EventLogAudit``.
@Suite struct AuditTests {
  /// Sends 2,000 requests, or 200,000 with `SLUICE_SOAK=1`. A failure names its seed, and `SLUICE_SEED` set to this
  /// seed repeats the run.
  @Test func `with 30 % faults, each input line has one result, and both checkers accept the event log`()
    async throws
  {
    let seed = Self.seed
    let run = try await FaultyRun(Tool.isSoak ? 200_000 : 2_000, seed: seed)
    #expect(run.result.status == 1, "\(run.result.errorText)")
    #expect(run.result.errorText.isEmpty)
    var log = EventLogAudit()
    try FileTree.forEachLine(of: run.events) { log.read($0) }
    log.finish()
    var results = ResultAudit(log) { run.url(of: $0) }
    try FileTree.forEachLine(of: run.output) { results.read($0) }

    #expect(log.complaints == [], "SLUICE_SEED=\(seed)")
    #expect(results.complaints == [], "SLUICE_SEED=\(seed)")
    #expect(results.results.count == run.count && results.results.values.allSatisfy { $0 == 1 }, "SLUICE_SEED=\(seed)")
    #expect(results.results.keys.allSatisfy { (1...run.count).contains($0) })
    checkTotals(run, log, results, seed)

    let verdict = try await run.verify()
    #expect(verdict.status == 0, "\(verdict.outputText); SLUICE_SEED=\(seed)")
    let document = try #require(try verdict.documents.first)
    #expect(document["ok"]?.bool == true)
    #expect(document["events"]?.integer == Int64(log.lineCount))
    #expect(document["transactions"]?.integer == Int64(run.count))
  }

  private func checkTotals(_ run: FaultyRun, _ log: EventLogAudit, _ results: ResultAudit, _ seed: UInt64) {
    func number(_ event: String) -> Int { log.counts[event] ?? 0 }
    let all = "\(log.counts), \(results.codes), \(run.served.faults); SLUICE_SEED=\(seed)"
    #expect(log.transactionCount == run.count, "\(all)")
    #expect(number("will_execute") == run.count && number("did_complete") == run.count, "\(all)")
    // There are no stages, so each attempt has a did_configure, and each attempt after the first has a will_retry.
    #expect(number("did_configure") == results.attemptCount, "\(all)")
    #expect(number("did_configure") == run.count + number("will_retry"), "\(all)")
    #expect(number("did_validate_payload") == results.codes["none"], "\(all)")
    // If the server has closed a kept connection, it can have missed the last request on it.
    #expect(number("did_issue") >= run.served.requests && run.served.requests >= number("did_receive"), "\(all)")
    let faults = run.served.faults.values.reduce(0, +)
    #expect((0.25...0.35).contains(Double(faults) / Double(run.served.decisions)), "\(all)")
    #expect(run.served.faults.count == FaultyServer.Fault.allCases.count, "\(all)")
    for code in ["none", "http_status", "connection_lost", "invalid_response", "redirect_loop", "extraction"] {
      #expect(results.codes[code] != nil, "\(all)")
    }
  }

  /// Makes 240 changes, or 6,000 with `SLUICE_SOAK`. Half of the changed logs have no `sequence`. In these logs, a lost
  /// event is noticed only if another rule needs it.
  @Test func `the two checkers agree about each changed log, and refuse each change that certainly breaks a rule`()
    async throws
  {
    let seed = Self.seed
    let run = try await FaultyRun(600, seed: seed)
    var log = try Self.oneOfEachForm(try FileTree.readText(run.events))
    log += Self.lines(try FileTree.readText(RepositoryRoot.path("Tests/Fixtures/Cases/event-log/unusual.jsonl")))
    let bare = try log.map { try Self.withoutSequence($0) }
    for whole in [log, bare] {
      #expect(EventLogAudit(lines: whole).complaints == [])
      #expect(try await Self.isAccepted(whole))
    }
    var random = SeededRandom(seed: seed)
    var damages = try (0..<(Tool.isSoak ? 6_000 : 240)).map { number in
      try EventLogDamage(of: number % 2 == 0 ? log : bare, random: &random)
    }
    var counts = (accepted: 0, refused: 0)
    while !damages.isEmpty {
      // Only four logs are checked at a time, because each of them needs its own process.
      let some = Array(damages.suffix(4))
      damages.removeLast(some.count)
      let verdicts = try await Self.verdicts(some)
      for (damage, isAccepted) in zip(some, verdicts) {
        let complaints = EventLogAudit(lines: damage.lines).complaints
        #expect(isAccepted == complaints.isEmpty, "\(damage.what)\n\(complaints); SLUICE_SEED=\(seed)")
        let mustBeRefused = damage.isCertain && damage.lines.contains { $0.contains(#""sequence":"#) }
        #expect(!isAccepted || !mustBeRefused, "\(damage.what); SLUICE_SEED=\(seed)")
        if isAccepted { counts.accepted += 1 } else { counts.refused += 1 }
      }
    }
    // Some changes break no rule, because no rule compares the changed value with another event.
    #expect(counts.accepted > 0 && counts.refused > counts.accepted, "\(counts); SLUICE_SEED=\(seed)")
  }

  private static var seed: UInt64 {
    var seeds = SystemRandomNumberGenerator()
    return getenv("SLUICE_SEED").flatMap { UInt64(String(cString: $0)) } ?? seeds.next()
  }

  private static func verdicts(_ damages: [EventLogDamage]) async throws -> [Bool] {
    try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
      for (index, damage) in damages.enumerated() {
        group.addTask { (index, try await isAccepted(damage.lines)) }
      }
      return try await group.reduce(into: [Bool](repeating: false, count: damages.count)) { $0[$1.0] = $1.1 }
    }
  }

  private static func isAccepted(_ lines: [String]) async throws -> Bool {
    let result = try await Tool.run("verify-trace", input: lines.map { $0 + "\n" }.joined())
    guard result.status <= 1 else {
      throw TestKitError("verify-trace ended with \(result.ending): \(result.errorText)")
    }
    return result.status == 0
  }

  private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  private static func withoutSequence(_ line: String) throws -> String {
    let document = try JSONValue(parsing: line)
    document.removeMember("sequence")
    return try document.serializedText()
  }

  /// Groups the transactions by form, and returns the lines of one transaction for each form, up to 25 forms. A form is
  /// a sequence of events with their statuses and errors.
  private static func oneOfEachForm(_ text: String) throws -> [String] {
    var forms: [String: String] = [:]
    var all: [(transaction: String, text: String)] = []
    for line in lines(text) {
      let document = try JSONValue(parsing: line)
      let transaction = document["transaction"]?.string ?? ""
      all.append((transaction, line))
      let code = document["error"]?["code"]?.string ?? ""
      forms[transaction, default: ""] +=
        "\(document["event"]?.string ?? "") \(document["status"]?.integer ?? 0) \(code),"
    }
    let first = all.reduce(into: [String: String]()) { first, line in
      let form = forms[line.transaction] ?? ""
      if first[form] == nil { first[form] = line.transaction }
    }
    let chosen = Set(first.sorted { $0.key < $1.key }.prefix(25).map(\.value))
    return all.filter { chosen.contains($0.transaction) }.map(\.text)
  }
}
