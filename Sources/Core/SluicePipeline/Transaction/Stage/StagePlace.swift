/// The position of a stage in its pipeline. Transactions refer to stages by their position: with a reference to the
/// stage itself, each call would retain and release the stage.
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
