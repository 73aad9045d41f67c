import CSluice
import SluicePipeline
import SluicePlugin
import SluicePluginHost

extension StageCode {
  /// The lists of a configuration that a stage can be in.
  struct Lists: OptionSet {
    let rawValue: Int
    static let request = Lists(rawValue: 1)
    static let issue = Lists(rawValue: 2)
    static let response = Lists(rawValue: 4)
    static let tracers = Lists(rawValue: 8)
  }

  /// The lists for which the stage has a callback.
  var lists: Lists {
    switch form {
    case .unusable: return []
    case .direct(let stage):
      var lists: Lists = stage.tracer == nil ? [] : .tracers
      if stage.interceptor?.capabilities.contains(.issue) == true { lists.insert(.issue) }
      return lists
    case .hosted(let stage): return Self.lists(stage.tables)
    }
  }

  private static func lists(_ tables: StageTables) -> Lists {
    var lists: Lists = []
    let sides = tables.body?.sides ?? 0
    if let calls = tables.interceptor {
      if calls.on_request != nil { lists.insert(.request) }
      if calls.on_issue != nil { lists.insert(.issue) }
      if calls.on_response != nil || calls.on_failure != nil || calls.on_redirect != nil || calls.on_challenge != nil {
        lists.insert(.response)
      }
    }
    if sides & UInt32(SLUICE_BODY_SIDE_REQUEST) != 0 { lists.insert(.request) }
    if sides & UInt32(SLUICE_BODY_SIDE_RESPONSE) != 0 { lists.insert(.response) }
    if tables.tracer != nil { lists.insert(.tracers) }
    return lists
  }
}

extension PluginGeneration {
  /// - Parameter name: the stage's name in the configuration. For a stage that is not a ``Plugin``, it is also the id.
  convenience init(_ stage: ProgramStage, named name: String) {
    let information = stage.information
    var program = ProgramPlugin(
      id: information?.id ?? name, version: information?.version ?? "0.0.0", summary: information?.summary ?? "",
      configurationSchema: stage.configurationSchema, lifecycle: ProgramStage.lifecycle,
      create: { try stage.create($0, $1) })
    program.interceptor = stage.tables.interceptor
    program.body = stage.tables.body
    program.tracer = stage.tables.tracer
    program.notifications = stage.tables.notifications
    program.state = stage.tables.state
    self.init(program)
  }
}
