import Glibc

extension CrashReport {
  /// A text for people: what happened, where, and what to do. Ends with a line break.
  public var text: String {
    var lines = [headline, "  " + reason]
    if let message { lines.append("  it said: \(message)") }
    lines += facts
    lines.append("")
    lines += trace
    if !isComplete { lines += ["", "The record is incomplete, so this report might be too."] }
    lines += ["", advice, ""]
    return lines.joined(separator: "\n")
  }

  /// One sentence, for a log.
  public var headline: String {
    switch cause {
    case .code(let build), .calledBy(let build):
      "\(build.words) crashed the process \(place(in: build))"
    case .threadOf(let build):
      "\(build.words) crashed the process on a thread of its own"
    case .host:
      call.map { "the process crashed in \($0.callback) of \($0.build.words)" }
        ?? "the process crashed on thread \(threadName), which was not in a call of a plugin"
    }
  }

  private func place(in build: Build) -> String {
    guard let call else { return "on thread \(threadName)" }
    let whose = call.build == build ? "" : ", called from \(call.callback) of \(call.build.words)"
    let what = call.build == build ? "in \(call.callback)" : "in its code\(whose)"
    guard case .calledBy = cause else { return what }
    return "\(what), in code of the host or of another library"
  }

  private var facts: [String] {
    var lines: [String] = []
    if let call, let transaction = call.transaction {
      lines.append("  transaction \(transaction), attempt \(call.attempt)")
    }
    if let build = blamed { lines.append("  build       \(build.hash)") }
    lines.append("  process     \(process), thread \(thread) (\(threadName))")
    for other in otherCalls {
      lines.append("  meanwhile   \(other.threadName) was in \(other.callback) of \(other.build.words)")
    }
    return lines
  }

  private var trace: [String] {
    let last = frames.lastIndex { if case .plugin = $0.owner { true } else { false } }
    let shown = min(frames.count, last.map { $0 + 1 } ?? 16)
    var lines: [String] = []
    var index = 0
    while index < shown {
      var repeated = 1
      while index + repeated < shown, frames[index + repeated].isSame(as: frames[index]) { repeated += 1 }
      let isCut = index + repeated == CrashRecord.maximumFrames
      let again = repeated > 1 ? "   (\(repeated) times\(isCut ? " and more" : ""))" : ""
      lines.append("  #\(index) ".padding(to: 6) + frames[index].words + again)
      index += repeated
    }
    let rest = frames.count - shown
    if rest > 0 { lines.append("  … and \(rest) more of the host") }
    return lines
  }

  private var advice: String {
    switch cause {
    case .code, .threadOf:
      "What to do: begin with the first line above that is the plugin's own."
    case .calledBy:
      """
      What to do: check the arguments that the plugin passes in its last line above. If they are right, the host is at
      fault: please report it with this text.
      """
    case .host:
      "What to do: no plugin seems to be at fault; please report it with this text."
    }
  }
}

extension CrashReport.Build {
  /// `plugin "auth" (bearer-auth, generation 3)`
  var words: String {
    guard let stage else { return "the library \(library)" + (generation > 0 ? " (generation \(generation))" : "") }
    return "plugin \"\(stage)\" (\(plugin ?? library), generation \(generation))"
  }
}

extension CrashReport.Frame {
  /// `handle(_:) at Auth.swift:42 in libauth.so`
  fileprivate var words: String {
    guard let file else { return "\(SignalText.hex(address)), which is not in any code" }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let place = source.map { " at \($0)" } ?? ""
    return (function ?? SignalText.hex(offset ?? address)) + place + " in \(name)"
  }

  fileprivate func isSame(as other: Self) -> Bool {
    other.function == function && function != nil && other.file == file
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - utf8.count)) }
}
