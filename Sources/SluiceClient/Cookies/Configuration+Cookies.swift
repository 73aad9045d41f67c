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
    addCookies(jar, name: name, besidesGiven: false)
  }

  /// - Parameter besidesGiven: whether the jar's cookies are sent before those of the caller, and not only without them.
  package mutating func addCookies(_ jar: CookieJar, name: String, besidesGiven: Bool) {
    addStage(name, StageCode(direct: CookieStage(jar, besidesGiven: besidesGiven), isTrusted: true))
  }
}
