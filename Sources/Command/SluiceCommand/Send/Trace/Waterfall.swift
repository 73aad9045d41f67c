import SluiceAssembly
import SluiceMessages
import SluicePipeline

/// How long each phase of a request took, with one bar for each phase. The times of the rows add up to the total.
struct Waterfall {
  struct Row: Equatable {
    var name: String
    var start: Duration
    var time: Duration
    var note = ""
  }

  private static let barWidth = 40
  private let stretches: [RequestTimeline.Stretch]
  private let stages: [StageSnapshot]

  init(_ timeline: RequestTimeline, stages: [StageSnapshot] = []) {
    stretches = timeline.stretches
    self.stages = stages.filter { $0.calls > 0 }
  }

  /// The phases, in the order of time.
  var rows: [Row] {
    stretches.flatMap { stretch -> [Row] in
      switch stretch {
      case .requestStages(let range): [row("request", range)]
      case .delay(let range): [row("retry delay", range)]
      case .hop(let hop): phases(of: hop)
      }
    }
  }

  func text(_ result: TransactionResult) -> String {
    let total = stretches.last?.end ?? result.duration
    var lines = [line(Row(name: "total", start: .zero, time: total, note: summary(result)), of: total)]
    lines += rows.map { line($0, of: total) }
    lines += stages.map { stage in
      let time = Duration.nanoseconds(Int64(clamping: stage.time.sum))
      return line(Row(name: "\(stage.phase) \(stage.name)", start: .zero, time: time, note: calls(stage)), of: .zero)
    }
    return lines.map { "\($0)\n" }.joined()
  }

  // MARK: Phases

  private var hasManyHops: Bool {
    stretches.count { if case .hop = $0 { true } else { false } } > 1
  }

  private func phases(of hop: RequestTimeline.Hop) -> [Row] {
    var rows = connecting(hop) + exchanging(hop)
    guard hasManyHops else { return rows }
    rows.removeAll { $0.time == .zero }
    return rows.map { row in
      var row = row
      row.name = "\(hop.attempt).\(hop.number) \(row.name)"
      return row
    }
  }

  /// The phases until the request is issued.
  private func connecting(_ hop: RequestTimeline.Hop) -> [Row] {
    let timings = hop.timings ?? TransferTimings()
    let peer = timings.peerAddress ?? ""
    var phases = [
      Phase(name: "prepare", time: .zero),
      Phase(name: "queue", time: timings.queue),
      Phase(name: "dns", time: timings.nameLookup),
      Phase(name: "connect", time: timings.connect, note: timings.isConnectionReused ? "reused \(peer)" : peer),
      Phase(name: "tls", time: timings.tlsHandshake),
    ]
    // Only a proxy opens a tunnel.
    if timings.tunnel > .zero { phases.insert(Phase(name: "tunnel", time: timings.tunnel), at: phases.count - 1) }
    let range = hop.begin..<(hop.issued ?? hop.received ?? hop.end)
    let rest = max(.zero, range.length - phases.reduce(.zero) { $0 + $1.time })
    if hop.issued != nil {
      // In this phase, the engine prepares the transfer, and the issue stages run.
      phases[0].time = rest
    } else {
      // The hop failed before it had a connection. The phase that failed did not end and was not measured. It gets the
      // remaining time.
      let broken = timings.connect > .zero ? 4 : 3
      phases[broken].time += rest
      phases[broken].note = "failed"
    }
    var start = range.lowerBound
    return phases.map { phase in
      let end = min(start + max(.zero, phase.time), range.upperBound)
      defer { start = end }
      return row(phase.name, start..<end, phase.note)
    }
  }

  private struct Phase {
    let name: String
    var time: Duration
    var note = ""
  }

  /// The phases after the request was issued. `send` is the time to send the body after the head. Without a body,
  /// `send` is 0, and the time is part of `wait`.
  private func exchanging(_ hop: RequestTimeline.Hop) -> [Row] {
    guard let issued = hop.issued ?? hop.received else { return [] }
    let head = hop.received ?? hop.end
    let sent = min(issued + max(.zero, hop.timings?.send ?? .zero), head)
    var rows = [
      row("send", issued..<sent, hop.timings.map { "\(Figures.count($0.bytesSent)) bytes" } ?? ""),
      row("wait", sent..<head),
    ]
    guard let received = hop.received else { return rows }
    let arrival = hop.timings?.receive ?? .zero
    let whole = hasResponseStages ? min(received + max(.zero, arrival), hop.end) : hop.end
    let bytes = hop.timings?.bytesReceived ?? 0
    rows.append(row("receive", received..<whole, hop.status == 0 ? "" : "\(Figures.count(bytes)) bytes"))
    if hasResponseStages { rows.append(row("response", whole..<hop.end)) }
    return rows
  }

  private var hasResponseStages: Bool { stages.contains { $0.phase == .response } }

  private func row(_ name: String, _ range: Range<Duration>, _ note: String = "") -> Row {
    Row(name: name, start: range.lowerBound, time: range.length, note: note)
  }

  // MARK: Text

  private func summary(_ result: TransactionResult) -> String {
    let status = result.response.map { "status \($0.status)" } ?? "no response"
    return result.attempts > 1 ? "\(status), \(result.attempts) attempts" : status
  }

  /// How often a stage was called. The stages have no bars, because their calls are parts of the phases.
  private func calls(_ stage: StageSnapshot) -> String { stage.calls == 1 ? "1 call" : "\(stage.calls) calls" }

  private func line(_ row: Row, of total: Duration) -> String {
    let shown = String(row.name.prefix(24))
    let figure = Figures.time(nanoseconds: row.time.nanoseconds)
    return shown + String(repeating: " ", count: 24 - shown.count)
      + String(repeating: " ", count: max(0, 9 - figure.count)) + figure + " |\(bar(row, total))| \(row.note)"
  }

  private func bar(_ row: Row, _ total: Duration) -> String {
    guard total > .zero, row.time > .zero else { return String(repeating: " ", count: Self.barWidth) }
    let width = Double(Self.barWidth)
    let before = min(Int(row.start / total * width), Self.barWidth - 1)
    let filled = min(max(1, Int((row.time / total * width).rounded())), Self.barWidth - before)
    return String(repeating: " ", count: before) + String(repeating: "#", count: filled)
      + String(repeating: " ", count: Self.barWidth - before - filled)
  }
}

extension RequestTimeline.Stretch {
  fileprivate var end: Duration {
    switch self {
    case .requestStages(let range), .delay(let range): range.upperBound
    case .hop(let hop): hop.end
    }
  }
}

extension Range<Duration> {
  fileprivate var length: Duration { upperBound - lowerBound }
}
