import SluiceMessages
import SluiceMetrics
import SluicePipeline

/// Where the time of one request went, as bars one below the other.
struct Waterfall {
  private struct Row {
    let name: String
    let time: Duration
    let note: String
  }

  private static let barWidth = 40
  private let result: TransactionResult
  private let metrics: MetricsSnapshot

  init(_ result: TransactionResult, _ metrics: MetricsSnapshot) {
    self.result = result
    self.metrics = metrics
  }

  var text: String {
    let rows = stages(.request) + connecting + stages(.issue) + exchanging + stages(.response)
    let total = max(result.duration.inSeconds, rows.reduce(0) { $0 + $1.time.inSeconds })
    var start = 0.0
    var table: [String] = [line("total", result.duration, bar(0, 1), summary)]
    for row in rows {
      let (offset, length) = total > 0 ? (start / total, row.time.inSeconds / total) : (0, 0)
      table.append(line(row.name, row.time, bar(offset, length), row.note))
      start += row.time.inSeconds
    }
    return table.map { "\($0)\n" }.joined()
  }

  /// The phases are those of the last hop.
  private var connecting: [Row] {
    guard let timings = result.timings else { return [] }
    let peer = timings.peerAddress ?? ""
    return [
      Row(name: "queue", time: timings.queue, note: ""), Row(name: "dns", time: timings.nameLookup, note: ""),
      Row(name: "connect", time: timings.connect, note: timings.isConnectionReused ? "reused \(peer)" : peer),
      Row(name: "tls", time: timings.tlsHandshake, note: ""),
    ]
  }

  private var exchanging: [Row] {
    guard let timings = result.timings else { return [] }
    return [
      Row(name: "send", time: timings.send, note: "\(Figures.count(timings.bytesSent)) bytes"),
      Row(name: "wait", time: timings.wait, note: ""),
      Row(name: "receive", time: timings.receive, note: "\(Figures.count(timings.bytesReceived)) bytes"),
    ]
  }

  private func stages(_ phase: StagePhase) -> [Row] {
    metrics.stages.filter { $0.phase == phase && $0.calls > 0 }.map { stage in
      let note = stage.calls == 1 ? "" : "\(stage.calls) calls"
      return Row(name: "\(phase) \(stage.name)", time: .nanoseconds(Int64(clamping: stage.time.sum)), note: note)
    }
  }

  private var summary: String {
    let status = result.response.map { "status \($0.status)" } ?? "no response"
    return result.attempts > 1 ? "\(status), \(result.attempts) attempts" : status
  }

  private func bar(_ offset: Double, _ length: Double) -> String {
    let width = Double(Self.barWidth)
    let before = min(Int(offset * width), Self.barWidth - 1)
    let filled = min(max(1, Int((length * width).rounded())), Self.barWidth - before)
    return String(repeating: " ", count: before) + String(repeating: "#", count: length > 0 ? filled : 0)
      + String(repeating: " ", count: Self.barWidth - before - (length > 0 ? filled : 0))
  }

  private func line(_ name: String, _ time: Duration, _ bar: String, _ note: String) -> String {
    let shown = String(name.prefix(24))
    let figure = Figures.time(nanoseconds: time.nanoseconds)
    return shown + String(repeating: " ", count: 24 - shown.count)
      + String(repeating: " ", count: max(0, 9 - figure.count)) + figure + " |\(bar)| \(note)"
  }
}
