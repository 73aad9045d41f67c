import Foundation
import FoundationNetworking
import SluiceAssembly
public import SluiceClient
import SluiceCookies

extension Client {
  /// A client that corresponds to `URLSession.shared`. It has a cookie jar in memory and no stages. Its deadline is
  /// seven days, so that in practice `timeoutInterval` decides. It exists until the process ends, and must not be shut
  /// down.
  ///
  /// - Throws: why the engine could not be started. Each access throws the same error.
  public static var shared: Client {
    get throws(EngineError) { try made.get() }
  }

  private static let made = Result { () throws(EngineError) in try Client(.likeURLSession, cookies: CookieJar()) }
}

extension Configuration {
  /// The default `timeoutIntervalForResource` of URLSession.
  private static let week = Duration.seconds(7 * 86_400)

  fileprivate static var likeURLSession: Configuration {
    var configuration = Configuration()
    configuration.deadline = week
    configuration.transport.timeout = week
    return configuration
  }
}
