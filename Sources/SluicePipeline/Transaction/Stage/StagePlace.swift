import SluiceMetrics

/// The position of a stage in its pipeline. Transactions refer to stages by it: keeping the stage itself would retain
/// and release it for each call.
struct StagePlace {
  var phase: StagePhase
  var index: Int
}

extension Pipeline {
  func stage(at place: StagePlace) -> StageBinding {
    switch place.phase {
    case .request: requestStages[place.index]
    case .issue: issueStages[place.index]
    case .response, .failure: responseStages[place.index]
    case .hop: hopStages[place.index]
    }
  }
}
