public import SluiceAssembly
public import SluiceCookies

extension Configuration {
  /// Sends the cookies of a jar, and takes those that responses set, redirects included.
  ///
  /// A `Cookie` field of the caller, or of a stage before this one, is sent as it is; then the jar sends nothing.
  ///
  /// - Parameters:
  ///   - jar: can be used by several engines; retained by each.
  ///   - name: names the stage in errors and metrics; must be unique in the configuration.
  public mutating func addCookies(_ jar: CookieJar, name: String = "cookies") {
    addStage(name, StageCode(direct: CookieStage(jar), isTrusted: true))
  }
}
