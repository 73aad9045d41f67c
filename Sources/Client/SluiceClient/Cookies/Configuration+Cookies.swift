public import SluiceAssembly
public import SluiceCookies

extension Configuration {
  /// Sends the cookies of a jar, and stores the cookies that responses set, also those of redirects.
  ///
  /// If the caller or an earlier stage has set a `Cookie` field, that field is sent unchanged, and the jar sends
  /// nothing.
  ///
  /// - Parameters:
  ///   - jar: can be used by several engines, each of which retains it.
  ///   - name: names the stage in errors and metrics; must be unique in the configuration.
  public mutating func addCookies(_ jar: CookieJar, name: String = "cookies") {
    addCookies(jar, name: name, besidesGiven: false)
  }

  /// - Parameter besidesGiven: whether the jar's cookies are also sent if the caller has set cookies. If so, the jar's
  ///   cookies come before the caller's cookies.
  package mutating func addCookies(_ jar: CookieJar, name: String, besidesGiven: Bool) {
    addStage(name, StageCode(direct: CookieStage(jar, besidesGiven: besidesGiven), isTrusted: true))
  }
}
