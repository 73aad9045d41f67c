import CIDN2
public import SluiceMessages

extension HostEncoder {
  /// Converts by IDNA2008 (RFC 5891) with the non-transitional mapping of Unicode TS 46. Uses libidn2, as curl does:
  /// `BÜCHER.example` becomes `xn--bcher-kva.example`, and `straße.example` does not become `strasse.example`. Any
  /// thread may use it.
  public static var idna: HostEncoder { HostEncoder(IDNA.labels) }
}

private enum IDNA {
  /// `IDN2_USE_STD3_ASCII_RULES` is not set: with it, libidn2 silently drops forbidden characters instead of refusing
  /// them.
  private static let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)

  @Sendable static func labels(of host: String) throws(HostEncoder.Failure) -> String {
    var labels: UnsafeMutablePointer<UInt8>?
    let code = host.withCString(encodedAs: UTF8.self) { idn2_lookup_u8($0, &labels, flags) }
    defer { idn2_free(labels) }
    guard code == IDN2_OK.rawValue, let labels else { throw HostEncoder.Failure(reason(idn2_rc(rawValue: code))) }
    return String(cString: labels)
  }

  private static func reason(_ code: idn2_rc) -> String {
    switch code {
    case IDN2_DISALLOWED, IDN2_UNASSIGNED, IDN2_CONTEXTO, IDN2_CONTEXTO_NO_RULE, IDN2_ALABEL_ROUNDTRIP_FAILED:
      "has a character that is not allowed in a name (RFC 5892)"
    case IDN2_CONTEXTJ, IDN2_CONTEXTJ_NO_RULE: "has a joiner where none is allowed (RFC 5892)"
    case IDN2_LEADING_COMBINING: "has a label that begins with a combining mark"
    case IDN2_BIDI: "mixes writing directions in a way that is not allowed in a name (RFC 5893)"
    case IDN2_2HYPHEN: "has a label with hyphens in the third and fourth place"
    case IDN2_HYPHEN_STARTEND: "has a label that begins or ends with a hyphen"
    case IDN2_TOO_BIG_DOMAIN: "has more than 253 bytes in A-labels"
    case IDN2_TOO_BIG_LABEL, IDN2_PUNYCODE_BIG_OUTPUT: "has a label of more than 63 bytes as A-label"
    case IDN2_PUNYCODE_BAD_INPUT, IDN2_INVALID_ALABEL, IDN2_UALABEL_MISMATCH, IDN2_INVALID_NONTRANSITIONAL:
      "has a label that begins with xn-- but is not an encoded name"
    default: "is not an internationalized name: \(String(cString: idn2_strerror(code.rawValue)))"
    }
  }
}
