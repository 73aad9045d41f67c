import CSluice
package import SluiceJSON
package import SluiceMessages
package import SluicePipeline
import SluiceSupport

/// A place with a configuration of its own, as a stage. It consists of the instance that it calls, and of the object
/// that `create_stage` returned for the place.
///
/// While it calls the instance, it stores itself in the exchange, so that ``CallContext`` finds it. Sendable: the
/// pointer belongs to the plugin, and is only passed back.
package final class PluginPlace: Interceptor, @unchecked Sendable {
  let instance: PluginInstance
  private let object: UnsafeMutableRawPointer

  init(_ instance: PluginInstance, _ object: UnsafeMutableRawPointer) {
    self.instance = instance
    self.object = object
  }

  package var capabilities: StageCapabilities { instance.capabilities }
  package var identity: ObjectIdentifier { ObjectIdentifier(instance) }
  package var overdueWords: String { instance.overdueWords }

  package func interceptRequest(_ exchange: Exchange) -> Verdict {
    exchange.at(self) { instance.interceptRequest(exchange) }
  }

  package func interceptIssue(_ exchange: Exchange) -> Verdict {
    exchange.at(self) { instance.interceptIssue(exchange) }
  }

  package func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict {
    exchange.at(self) { instance.interceptRedirect(exchange, redirect) }
  }

  package func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict {
    exchange.at(self) { instance.interceptChallenge(exchange, offer) }
  }

  package func interceptInformational(_ exchange: Exchange, _ status: Int, _ headers: HeaderFields) {
    exchange.at(self) { instance.interceptInformational(exchange, status, headers) }
  }

  package func interceptResponse(_ exchange: Exchange) -> Verdict {
    exchange.at(self) { instance.interceptResponse(exchange) }
  }

  package func interceptFailure(_ exchange: Exchange, _ failure: TransactionError) -> Verdict {
    exchange.at(self) { instance.interceptFailure(exchange, failure) }
  }

  package func interceptPiece(
    _ exchange: Exchange, _ side: MessageSide, _ piece: [UInt8], _ output: inout [UInt8]
  ) -> PieceVerdict {
    exchange.at(self) { instance.interceptPiece(exchange, side, piece, &output) }
  }

  package func interceptBodyEnd(
    _ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8]
  ) -> PieceVerdict {
    exchange.at(self) { instance.interceptBodyEnd(exchange, side, &output) }
  }

  package func suspensionWasCancelled(_ token: SuspensionToken) { instance.suspensionWasCancelled(token) }

  package func warn(about fields: DerivedFields) { instance.warn(about: fields) }

  /// The plugin's object for a place; nil if the place belongs to another instance.
  static func object(of place: AnyObject, for instance: PluginInstance) -> UnsafeMutableRawPointer? {
    // The cast is safe, because only this type stores itself as a place.
    let place = unsafeDowncast(place, to: PluginPlace.self)
    return place.instance === instance ? place.object : nil
  }
}

extension Exchange {
  /// Calls the body while the exchange names this place. `place` is nil for a place without a configuration of its own.
  func at<Result>(_ place: (any AnyObject & Sendable)?, _ body: () -> Result) -> Result {
    let before = self.place
    self.place = place
    defer { self.place = before }
    return body()
  }
}

// Creates and destroys the plugin's objects for the places of an instance.
extension PluginInstance {
  /// Checks the configuration of a place against the plugin's schema and calls `create_stage`. Call it before
  /// `activate`. [control]
  /// - Parameter key: the key of the place in the configuration, for messages: `request[0]`.
  package func makePlace(_ key: String, _ configuration: JSONValue) throws(PluginError) -> PluginPlace {
    let subject = PluginError.Subject.plugin(name: name, path: generation.path)
    guard stageCalls.create_stage != nil else {
      throw PluginError(
        .configuration, subject, "\(key).config: the plugin takes no configuration for a place",
        advice: "leave it out, or put it into the \"config\" of the plugin")
    }
    try ConfigurationCheck.check(
      configuration, against: try generation.stageConfigurationSchema(), "\(key).config", subject, runtime)
    var object: UnsafeMutableRawPointer?
    let (status, message) = PluginErrorBuffer.collect { error in
      configuration.withUnsafeJSON { json in
        self.subject.call(.createStage) { stageCalls.create_stage(handle, json, &object, error) }
      }
    }
    guard status == Status.ok else {
      throw PluginError(
        .createFailed, subject, "\(key).config: \(message ?? "create_stage answered \(status) and gave no reason")")
    }
    guard let object else {
      throw PluginError(
        .createFailed, subject, "\(key).config: create_stage answered OK but gave no stage",
        advice: "its author must set *stage or return an error")
    }
    stages.withLock { $0.append(UncheckedPointer(object)) }
    return PluginPlace(self, object)
  }

  /// Destroys these objects. Called just before `destroy`.
  func destroyStages() {
    let stages = stages.withLock { stages in
      defer { stages = [] }
      return stages
    }
    for stage in stages.reversed() {
      subject.call(.destroyStage) { stageCalls.destroy_stage(handle, stage.address) }
    }
  }
}
