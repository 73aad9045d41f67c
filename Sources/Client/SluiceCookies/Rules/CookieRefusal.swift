/// Why a `Set-Cookie` field sets no cookie, with its step in draft-ietf-httpbis-rfc6265bis-22.
package enum CookieRefusal: Error, Sendable, Hashable, CaseIterable {
  /// §5.6 step 1: the field contains a control character.
  case controlCharacter
  /// §5.6 step 5 and §5.7 step 4: name and value together are too long.
  case tooLong
  /// §5.7 step 1: a name or a path with a tab, which the file of a jar cannot express.
  case tab
  /// §5.7 step 2: the cookie has neither a name nor a value.
  case empty
  /// §5.7 step 8: the domain is not ASCII.
  case domainNotASCII
  /// §5.7 step 9: the domain is a public suffix, or could be one, because the list is missing.
  case publicSuffix
  /// §5.7 step 10: the host of the request is not in the domain.
  case otherHost
  /// §5.7 step 13: the attribute `Secure` in a response over http.
  case secureOverHTTP
  /// §5.7 step 16: the cookie comes over http and would hide a cookie with the attribute `Secure`.
  case hidesSecure
  /// §5.7 step 19: `SameSite=None` without `Secure`.
  case crossSiteNotSecure
  /// §5.7 step 20: the name begins with `__Secure-`, but the cookie breaks the rule for this prefix.
  case securePrefix
  /// §5.7 step 21: the name begins with `__Host-`, but the cookie breaks the rules for this prefix.
  case hostPrefix
  /// §5.7 step 22: a cookie without a name, whose value a server would take for a name with a prefix.
  case namelessPrefix
}
