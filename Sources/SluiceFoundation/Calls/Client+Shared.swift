import Foundation
import FoundationNetworking
import SluiceAssembly
public import SluiceClient
import SluiceCookies

extension Client {
  /// The client in place of `URLSession.shared`: with a cookie jar in memory, without stages, and with a deadline of
  /// seven days, so that `timeoutInterval` decides. It exists until the process ends; do not shut it down.
  ///
  /// - Throws: why the engine could not be started; each access throws the error again.
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
