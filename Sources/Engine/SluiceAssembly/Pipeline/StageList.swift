package import SluicePipeline

/// A list of the configuration, and the callbacks that a plugin in that list is called with.
package enum StageList: String, CaseIterable, Sendable {
  case request, issue, response, tracers

  /// The callbacks that only this list has.
  var ownCapabilities: StageCapabilities {
    switch self {
    case .request: [.request, .requestPieces]
    case .issue: .issue
    case .response: [.response, .failure, .responsePieces]
    case .tracers: .trace
    }
  }

  /// The callbacks of this list. A plugin without any of them cannot be in it. Redirects and challenges are offered to
  /// the plugins of two lists.
  var capabilities: StageCapabilities {
    self == .request || self == .response ? ownCapabilities.union([.redirect, .challenge]) : ownCapabilities
  }

  /// What most plugins have that are in the list.
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
  /// One of these callbacks: `on_failure`.
  package let callback: String

  package init(plugin: String, list: StageList, callback: String) {
    self.plugin = plugin
    self.list = list
    self.callback = callback
  }

  /// - Parameter stages: the plugins of the configuration by their names.
  package static func all(
    in configuration: Configuration, _ stages: [(name: String, stage: PipelineStage)]
  ) -> [MissingList] {
    stages.flatMap { name, stage in
      let absent = StageList.allCases.filter { list in
        !list.references(in: configuration).contains { $0.plugin == name }
      }
      var missing = absent.filter { !stage.capabilities.isDisjoint(with: $0.ownCapabilities) }
      let isAsked = !absent.contains(.request) || !absent.contains(.response) || !missing.isEmpty
      if !isAsked, !stage.capabilities.isDisjoint(with: [.redirect, .challenge]) { missing = [.request] }
      return missing.map { list in
        let callback = Self.callbacks.first { callback, _ in
          list.capabilities.contains(callback) && stage.capabilities.contains(callback)
        }
        return MissingList(plugin: name, list: list, callback: callback?.name ?? list.callback)
      }
    }
  }

  private static let callbacks: [(capability: StageCapabilities, name: String)] = [
    (.request, "on_request"), (.issue, "on_issue"), (.response, "on_response"), (.failure, "on_failure"),
    (.requestPieces, "on_chunk"), (.responsePieces, "on_chunk"), (.trace, "on_event"), (.redirect, "on_redirect"),
    (.challenge, "on_challenge"),
  ]
}
