import Dispatch
import Foundation
import FoundationNetworking
import SluiceClient
import SluiceMessages

/// The body of an upload task. swift-corelibs-foundation keeps it in the task and does not show it to protocols.
///
/// It is read by reflection, because no public API gives access to it. If a release of Foundation keeps it elsewhere,
/// the task fails instead of sending an empty body.
enum TaskBody {
  case data([UInt8])
  case file(URL)
  case stream(InputStream)
  case absent

  /// Nil if the body is not found.
  init?(of task: URLSessionUploadTask) {
    guard let body = Self.knownBody(Mirror(reflecting: task)) else { return nil }
    guard let content = Mirror(reflecting: body).children.first else {
      guard "\(body)" == "none" else { return nil }
      self = .absent
      return
    }
    switch content.value {
    case let data as DispatchData: self = .data([UInt8](data))
    case let file as URL: self = .file(file)
    case let stream as InputStream: self = .stream(stream)
    default: return nil
    }
  }

  private static func knownBody(_ mirror: Mirror) -> Any? {
    var next: Mirror? = mirror
    while let mirror = next {
      if let found = mirror.children.first(where: { $0.label == "knownBody" }) {
        return Mirror(reflecting: found.value).children.first?.value
      }
      next = mirror.superclassMirror
    }
    return nil
  }
}
