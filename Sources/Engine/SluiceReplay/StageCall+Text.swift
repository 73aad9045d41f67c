import SluiceMessages
public import SluicePipeline

extension StageCall {
  /// The call for people: one line for its answer and one line for each change, without a final line end.
  ///
  ///     auth, on_request: continue
  ///       header x-stamp: none → 1
  public var text: String {
    let turn = attempt == 0 && hop == 0 ? "" : " (attempt \(attempt + 1), hop \(hop + 1))"
    let how = wasSuspended && verdict != .suspended ? ", by a resumption" : ""
    let head = "\(stage), \(callback.rawValue)\(turn): \(verdict.text)\(how)"
    return ([ReplayText.line(head)] + changes.map { "  \($0.text)" }).joined(separator: "\n")
  }
}

extension StageChange {
  fileprivate var text: String {
    let own = side == .request ? "request " : "response "
    return ReplayText.line("\(own)\(part.text): \(ReplayText.of(before)) → \(ReplayText.of(after))")
  }
}

extension StageChange.Part {
  var text: String {
    switch self {
    case .method: "method"
    case .url: "URL"
    case .status: "status"
    case .header(let name): "header \(name)"
    case .trailer(let name): "trailer \(name)"
    case .body: "body"
    case .limit(let name): "limit \(name)"
    }
  }
}

extension Verdict {
  var text: String {
    switch self {
    case .proceed: "continue"
    case .respond: "respond"
    case .retry(let delay): "retry after \(delay)"
    case .fail(let failure): PlainText.line("fail with \(failure.code): \(failure.message)")
    case .gatherBody: "asked for the body"
    case .suspended: "suspended, and never resumed"
    case .fault(let failure): PlainText.line("fault \(failure.code): \(failure.message)")
    }
  }
}

/// Converts texts for journals and reports, so that each fits on one line and cannot control the terminal.
enum ReplayText {
  static func of(_ texts: [String]) -> String {
    texts.isEmpty ? "none" : texts.map { $0.isEmpty ? "\"\"" : $0 }.joined(separator: " | ")
  }

  static func line(_ text: String) -> String {
    text.unicodeScalars.map { $0.properties.generalCategory == .control ? $0.escaped(asASCII: true) : String($0) }
      .joined()
  }
}
