import SluiceJSON

/// One path of the control socket's API, and the command that it runs.
struct ControlRoute: Sendable {
  typealias Run = @Sendable (ControlCommands, JSONValue, Bool) async throws(ControlError) -> ControlAnswer

  let method: String
  let path: String
  /// Runs the command. The arguments are the commands of the engine, the document of the request, and whether the
  /// client wants the answer as text.
  let run: Run

  static let all = [
    ControlRoute(method: "GET", path: "/v1/status") { commands, _, _ in .document(await commands.status()) },
    ControlRoute(method: "GET", path: "/v1/metrics") { commands, _, isText in commands.metrics(isText) },
    ControlRoute(method: "POST", path: "/v1/swap") { commands, document, _ throws(ControlError) in
      try await commands.swap(document)
    },
    ControlRoute(method: "POST", path: "/v1/rollback") { commands, document, _ throws(ControlError) in
      try await commands.rollback(document)
    },
    ControlRoute(method: "GET", path: "/v1/canary") { commands, _, _ in .document(await commands.canary()) },
    ControlRoute(method: "POST", path: "/v1/canary/promote") { commands, document, _ throws(ControlError) in
      try await commands.promote(document)
    },
    ControlRoute(method: "POST", path: "/v1/canary/abort") { commands, document, _ throws(ControlError) in
      try await commands.abort(document)
    },
    ControlRoute(method: "POST", path: "/v1/notify") { commands, document, _ throws(ControlError) in
      try await commands.notify(document)
    },
  ]
}
