import SluiceCookies
import SluiceMessages

/// The current time in the tests, in seconds since 1970.
let noon: Int64 = 1_800_000_000

extension PublicSuffixes {
  static let few = PublicSuffixes.of(["com", "example", "co.uk", "github.io"])
}

extension CookieStore {
  /// Receives a Set-Cookie field from a URL. Returns why it was ignored, or nil if it was not.
  @discardableResult
  mutating func set(
    _ field: String, from url: HTTPURL, suffixes: PublicSuffixes = .few, at now: Int64 = noon
  ) -> CookieRefusal? {
    do throws(CookieRefusal) {
      _ = try receive(Array(field.utf8)[...], from: url, suffixes: suffixes, now: now)
      return nil
    } catch { return error }
  }

  /// Returns the Cookie field that a request to this URL sends.
  mutating func sent(to url: HTTPURL, at now: Int64 = noon) -> String? {
    header(for: url, now: now).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Returns the cookie that a field sets, or nil if the field is ignored.
func cookie(_ field: String, from url: HTTPURL = "https://a.example/dir/page", at now: Int64 = noon) -> Cookie? {
  var store = CookieStore()
  return store.set(field, from: url, at: now) == nil ? store.cookies.first : nil
}
