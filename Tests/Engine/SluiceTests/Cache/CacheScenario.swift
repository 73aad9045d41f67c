import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestServers

/// Plays a row. The origin serves only this row and expects one connection for each request that must reach it. A
/// client performs the steps.
struct CacheScenario {
  let row: CacheCase
  let clock = CaseClock()
  private let origin: ScriptedServer

  init(_ row: CacheCase) throws {
    self.row = row
    let clock = clock
    var scripts = row.steps.indices.filter { row.steps[$0].reachesOrigin }.map { index in
      Self.script(row, index, clock)
    }
    // If there is one more request than expected, it gets this answer, and the scenario fails.
    scripts.append(ScriptStep.respond("599 Not Expected", headers: ["Connection: close"]))
    origin = try ScriptedServer(scripts)
  }

  /// Returns the failures in the order of the steps, or an empty list if the row's promise holds.
  func play(_ engine: Engine) async throws -> [String] {
    defer { origin.stop() }
    var complaints: [String] = []
    var expectedConnections = 0
    var lastAnswered = 0
    for (index, step) in row.steps.enumerated() {
      let result = await engine.transaction(try request(step))
      if step.reachesOrigin { expectedConnections += 1 }
      if step.source == .origin { lastAnswered = index + 1 }
      var check = StepCheck(row: row, number: index + 1, clock: clock, answered: step.answered ?? lastAnswered)
      check.check(result)
      check.check(origin.connectionCount, expectedConnections, origin.receivedText.last ?? "")
      complaints += check.complaints
    }
    return complaints
  }

  private func request(_ step: CacheCase.Step) throws -> Request {
    var request = Request(
      method: step.method ?? "GET",
      url: try HTTPURL("\(origin.baseURL)/\(row.id.replacing("=", with: "-"))\(step.query.map { "?\($0)" } ?? "")"))
    for line in step.send ?? [] {
      let (name, value) = clock.field(line)
      request.headers.append(name, value)
    }
    if let body = step.body { request.body = .text(body) }
    return request
  }

  private static func script(_ row: CacheCase, _ index: Int, _ clock: CaseClock) -> [ScriptStep] {
    let step = row.steps[index]
    guard step.hangUp != true else { return [.receiveRequest] }
    let answer = step.answer ?? CacheCase.Answer()
    let status = step.isValidation ? 304 : answer.status ?? 200
    var lines = ["HTTP/1.1 \(status) \(row.id)"]
    for line in answer.headers ?? [] {
      let (name, value) = clock.field(line)
      lines.append("\(name): \(value)")
    }
    if !step.isValidation { lines.append("X-Answer: \(index + 1)") }
    let body = StepCheck.hasBody(status, step.method) ? answer.raw ?? StepCheck.body(row, index + 1) : ""
    let names = Set(lines.compactMap { $0.split(separator: ":").first?.lowercased() })
    if !names.contains("connection") { lines.append("Connection: close") }
    if !names.contains("content-length"), !names.contains("transfer-encoding"), StepCheck.hasBody(status, "GET") {
      lines.append("Content-Length: \(body.utf8.count)")
    }
    let interim = answer.interim.map { "HTTP/1.1 \($0)\r\n\r\n" } ?? ""
    return [.receiveRequest, .send(interim + lines.joined(separator: "\r\n") + "\r\n\r\n" + body)]
  }
}

/// Compares the result of one step with the row.
struct StepCheck {
  let row: CacheCase
  /// Counted from 1.
  let number: Int
  let clock: CaseClock
  /// The step, counted from 1, whose answer the caller must get.
  let answered: Int
  private(set) var complaints: [String] = []

  init(row: CacheCase, number: Int, clock: CaseClock, answered: Int) {
    self.row = row
    self.number = number
    self.clock = clock
    self.answered = answered
  }

  private var step: CacheCase.Step { row.steps[number - 1] }

  static func hasBody(_ status: Int, _ method: String?) -> Bool {
    status != 204 && status != 304 && method != "HEAD"
  }

  /// The origin's answer to a step.
  static func body(_ row: CacheCase, _ number: Int) -> String {
    row.steps[number - 1].answer?.body ?? "answer \(number) to \(row.id)"
  }

  private mutating func expect(_ isMet: Bool, _ complaint: String) {
    if !isMet { complaints.append("\(row.id) (\(row.promise)), step \(number): \(complaint)") }
  }

  mutating func check(_ result: TransactionResult) {
    guard step.source != .nowhere else {
      return expect(result.response == nil, "a response with status \(result.response?.status ?? 0)")
    }
    guard let response = result.response else {
      return expect(false, "no response: \(result.error.map { "\($0)" } ?? "")")
    }
    let answer = step.source == .nobody ? nil : row.steps[answered - 1].answer
    let status = step.want ?? answer?.status ?? 200
    expect(response.status == status, "status \(response.status), not \(status)")
    if step.source != .nobody, step.want != 304 || step.source == .cache {
      let number = response.headers["x-answer"] ?? "none"
      expect(number == String(answered), "answer \(number), not \(answered)")
    }
    checkFields(response)
    checkBody(response)
  }

  private mutating func checkFields(_ response: Response) {
    for (name, wanted) in step.headers ?? [:] {
      let value = response.headers[name] ?? "none"
      expect(value == clock.value(wanted), "\(name) is \(value), not \(clock.value(wanted))")
    }
    for (name, least) in step.atLeast ?? [:] {
      let value = response.headers[name] ?? "none"
      expect(Int(value).map { $0 >= least } ?? false, "\(name) is \(value), less than \(least)")
    }
    for name in step.missing ?? [] {
      expect(!response.headers.contains(name), "\(name) is there: \(response.headers[name] ?? "")")
    }
    expect(step.source != .cache || response.headers.contains("age"), "no age")
  }

  private mutating func checkBody(_ response: Response) {
    guard step.source != .nobody else { return }
    let wanted = step.text ?? (Self.hasBody(response.status, step.method) ? Self.body(row, answered) : "")
    let body = String(decoding: response.body.bytes ?? [], as: UTF8.self)
    expect(body == wanted, "body \"\(body)\", not \"\(wanted)\"")
  }

  /// Checks the requests that the origin got for the step.
  mutating func check(_ connections: Int, _ expected: Int, _ request: String) {
    expect(connections == expected, "\(connections) requests at the origin by now, not \(expected)")
    guard connections == expected, step.reachesOrigin else { return }
    let sent = HeaderFields(
      request.split(separator: "\r\n").dropFirst().map { clock.field(String($0)) })
    if step.source == .validatedByTag { expect(sent.contains("if-none-match"), "no If-None-Match") }
    if step.source == .validatedByDate { expect(sent.contains("if-modified-since"), "no If-Modified-Since") }
    for (name, value) in step.sent ?? [:] {
      expect(sent[name] == value, "\(name) was sent as \(sent[name] ?? "none"), not \(value)")
    }
  }
}

extension HeaderFields {
  init(_ fields: [(name: String, value: String)]) {
    self.init()
    for (name, value) in fields { append(name, value) }
  }
}
