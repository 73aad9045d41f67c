import SluiceCookies
import SluiceMessages

/// The moment of the tests, in seconds since 1970.
let noon: Int64 = 1_800_000_000

extension PublicSuffixes {
  static let few = PublicSuffixes.of(["com", "example", "co.uk", "github.io"])
}

extension CookieStore {
  /// Takes a field from a URL, and returns why it was ignored.
  @discardableResult
  mutating func set(
    _ field: String, from url: HTTPURL, suffixes: PublicSuffixes = .few, at now: Int64 = noon
  ) -> CookieRefusal? {
    do throws(CookieRefusal) {
      _ = try receive(Array(field.utf8)[...], from: url, suffixes: suffixes, now: now)
      return nil
    } catch { return error }
  }

  /// The field that a request sends.
  mutating func sent(to url: HTTPURL, at now: Int64 = noon) -> String? {
    header(for: url, now: now).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// The cookie that a field sets; nil if it is ignored.
func cookie(_ field: String, from url: HTTPURL = "https://a.example/dir/page", at now: Int64 = noon) -> Cookie? {
  var store = CookieStore()
  return store.set(field, from: url, at: now) == nil ? store.cookies.first : nil
}
