package import SluicePipeline

/// A list of the configuration, and the callbacks that a plugin in that list is called with.
package enum StageList: String, CaseIterable, Sendable {
  case request, issue, response, tracers

  /// The callbacks that only this list has.
  var ownCapabilities: StageCapabilities {
    switch self {
    case .request: [.request, .requestPieces]
    case .issue: .issue
    case .response: [.response, .failure, .responsePieces, .informational]
    case .tracers: .trace
    }
  }

  /// The callbacks of this list. A plugin without any of them cannot be in it. Redirects and challenges are offered to
  /// the plugins of two lists.
  var capabilities: StageCapabilities {
    self == .request || self == .response ? ownCapabilities.union([.redirect, .challenge]) : ownCapabilities
  }

  /// The callback that messages name for this list.
  var callback: String {
    switch self {
    case .request: "on_request"
    case .issue: "on_issue"
    case .response: "on_response"
    case .tracers: "on_event"
    }
  }

  func references(in configuration: Configuration) -> [StageReference] {
    switch self {
    case .request: configuration.request
    case .issue: configuration.issue
    case .response: configuration.response
    case .tracers: configuration.tracers
    }
  }
}

extension PipelineStage {
  package var capabilities: StageCapabilities {
    let capabilities = interceptor?.capabilities ?? []
    return tracer == nil ? capabilities : capabilities.union(.trace)
  }
}

/// A list that a plugin is not in, although the plugin has callbacks that only this list has.
package struct MissingList: Sendable, Equatable {
  package let plugin: String
  package let list: StageList
  /// What is not called: `on_response`, `on_failure`.
  package let callbacks: [String]

  package init(plugin: String, list: StageList, callbacks: [String]) {
    self.plugin = plugin
    self.list = list
    self.callbacks = callbacks
  }

  /// A plugin that is in one of the lists for requests need not be in the other, because many set their header in either.
  /// - Parameter stages: the plugins of the configuration by their names.
  package static func all(
    in configuration: Configuration, _ stages: [(name: String, stage: PipelineStage)]
  ) -> [MissingList] {
    stages.flatMap { name, stage in
      let present = Set(
        StageList.allCases.filter { list in
          list.references(in: configuration).contains { $0.plugin == name }
        })
      return StageList.allCases.compactMap { list -> MissingList? in
        guard !present.contains(list) else { return nil }
        var idle = stage.capabilities.intersection(list.ownCapabilities)
        if (list == .request && present.contains(.issue)) || (list == .issue && present.contains(.request)) {
          idle = []
        }
        if list == .request {
          // These are offered to the stages of the list "response", too.
          if !present.contains(.response) { idle.formUnion(stage.capabilities.intersection([.redirect, .challenge])) }
          // Without this list, the body is not read for the stage.
          idle.formUnion(stage.capabilities.intersection(.wantsRequestBody))
        }
        let names = Self.names.filter { idle.contains($0.capability) }.map(\.name)
        return names.isEmpty ? nil : MissingList(plugin: name, list: list, callbacks: names)
      }
    }
  }

  private static let names: [(capability: StageCapabilities, name: String)] = [
    (.request, "on_request"), (.issue, "on_issue"), (.response, "on_response"), (.failure, "on_failure"),
    (.requestPieces, "on_chunk"), (.responsePieces, "on_chunk"), (.informational, "on_informational"),
    (.trace, "on_event"), (.redirect, "on_redirect"), (.challenge, "on_challenge"),
    (.wantsRequestBody, "SLUICE_WANTS_REQUEST_BODY"),
  ]
}
