import SluiceUpdateRules

// Downloads the builds of an accepted release.
extension UpdateSession {
  /// Whether every build that this configuration uses is on disk.
  func isStaged(_ release: ReleaseDocument) -> Bool {
    guard let targets = try? targets(of: release) else { return false }
    return targets.allSatisfy {
      folder.buildHash($0.id, of: release.version) == $0.sha256 && folder.hasBuild($0.sha256)
    }
  }

  /// Downloads the missing builds, and sets up the folder of the release.
  /// - Returns: whether the folder of the release has changed.
  func stage(_ release: ReleaseDocument, _ mirror: Mirror) async throws(UpdateError) -> Bool {
    try rules.checkExpiry(release)
    let targets = try targets(of: release)
    let missing = targets.filter { !folder.hasBuild($0.sha256) }
    if !missing.isEmpty {
      try await unlocked { () throws(UpdateError) in
        for target in missing { try await mirror.download(target, into: folder) }
      }
    }
    return try folder.link(targets, of: release.version)
  }

  /// The builds for this machine. Throws if one of them is refused or revoked.
  func targets(of release: ReleaseDocument) throws(UpdateError) -> [ReleaseTarget] {
    var targets: [ReleaseTarget] = []
    for id in updater.ids {
      let target = try rules.target(id, of: release, for: updater.offer)
      if let objection = state.objection(to: target.sha256) {
        throw UpdateError(
          .refused, "release \(release.version)",
          "its build of \"\(id)\" (\(target.sha256.prefix(12))) is refused: \(objection)",
          advice: "the publisher must make a release without it")
      }
      targets.append(target)
    }
    return targets
  }
}
