import SluiceUpdate
import SluiceUpdateRules

/// A repository of releases, as text for people.
struct PublicationText {
  private let publication: Publication

  init(_ publication: Publication) { self.publication = publication }

  func text() throws(UpdateError) -> String {
    let root = try publication.root()
    var text = Self.root(root, "root \(root.version)")
    if let draft = try publication.draftRoot() { text += Self.root(draft, "draft of root \(draft.version)") }
    for channel in publication.channels {
      text += "\nchannel \(channel)\n"
      if let timestamp = try publication.timestamp(of: channel) {
        text += "timestamp \(timestamp.version) names release \(timestamp.releaseVersion) until \(timestamp.expires)\n"
      }
      let newest = publication.newestRelease(of: channel)
      if let release = try publication.release(newest, of: channel) {
        text += Self.release(release, "release \(newest)")
      }
      if let draft = try publication.draft(of: channel), draft.version > newest {
        text += Self.release(draft, "draft of release \(draft.version)")
      }
    }
    return text
  }

  private static func root(_ root: RootDocument, _ title: String) -> String {
    var text = "\(title), until \(root.expires)\n"
    for role in UpdateRole.allCases {
      let keys = root.keys(of: role)
      text += "  \(role.rawValue): \(keys.threshold) of \(keys.keys.count)\n"
      for key in keys.keys.sorted() { text += "    \(key.hex)\n" }
    }
    return text
  }

  static func release(_ release: ReleaseDocument, _ title: String) -> String {
    var text = "\(title), until \(release.expires)\n"
    for target in release.targets {
      text +=
        "  \(target.id) \(target.version) \(target.architecture), ABI \(target.abi.lowerBound) to "
        + "\(target.abi.upperBound), \(target.length) bytes, \(target.sha256)\n"
    }
    for hash in release.revoked.sorted() { text += "  revoked \(hash)\n" }
    return text
  }
}
