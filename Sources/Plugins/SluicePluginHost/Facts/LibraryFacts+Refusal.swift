import Glibc

extension LibraryFacts {
  /// Why this host cannot use the library as a plugin; nil if it can. `path` only appears in the message.
  public func refusal(by host: HostOffer = HostOffer(), at path: String) -> PluginError? {
    let subject = PluginError.Subject.plugin(name: nil, path: path)
    return entryRefusal(subject) ?? noteRefusal(subject, host) ?? janssonRefusal(subject)
      ?? runtimeRefusal(subject) ?? hazardRefusal(subject, host) ?? sanitizerRefusal(subject)
  }

  /// The runtime of a sanitizer ends the process if it is loaded later than the program.
  private func sanitizerRefusal(_ subject: PluginError.Subject) -> PluginError? {
    guard let sanitizer, dlsym(nil, sanitizer.symbol) == nil, !Self.allowsLateSanitizer(sanitizer) else { return nil }
    return PluginError(
      .loadFailed, subject, "is built with \(sanitizer.rawValue), whose runtime must be in the program from its start",
      advice: "start the program with LD_PRELOAD=$(gcc -print-file-name=\(sanitizer.library)) if gcc has built it, or "
        + "build it without -fsanitize")
  }

  private static func allowsLateSanitizer(_ sanitizer: Sanitizer) -> Bool {
    guard sanitizer == .address, let options = getenv("ASAN_OPTIONS") else { return false }
    return String(cString: options).contains("verify_asan_link_order=0")
  }

  private func entryRefusal(_ subject: PluginError.Subject) -> PluginError? {
    let (reason, advice): (String, String) =
      switch entry {
      case .defined: ("", "")
      case .absent where entryProvider != nil:
        (
          "does not define \(Self.entrySymbol) itself, but needs \(entryProvider ?? ""), which defines it",
          "name that library instead"
        )
      case .absent: ("does not define \(Self.entrySymbol)", "a plugin exports it, see sluice/plugin.h")
      case .undefined:
        ("does not define \(Self.entrySymbol) itself, but expects it from another library", "name that library instead")
      case .hidden: ("defines \(Self.entrySymbol) but does not export it", "declare it SLUICE_EXPORT")
      case .notFunction:
        ("exports \(Self.entrySymbol), but it is not a function", "define the function of sluice/plugin.h")
      }
    return reason.isEmpty ? nil : PluginError(.noEntry, subject, reason, advice: advice)
  }

  private func noteRefusal(_ subject: PluginError.Subject, _ host: HostOffer) -> PluginError? {
    if let noteFault {
      return PluginError(
        .noNote, subject, "describes itself in a way that cannot be used: \(noteFault)",
        advice: "correct the arguments of SLUICE_PLUGIN(…) in C and C++, or PluginInformation or the SDK in Swift")
    }
    guard let note else {
      return PluginError(
        .noNote, subject, "has no note \"sluice\" in its section .note.sluice",
        advice: "declare the plugin with SLUICE_PLUGIN(…) in C and C++; in Swift link it with the product SluicePlugin")
    }
    guard note.abi.overlaps(host.abi) else {
      return PluginError(
        .abiMismatch, subject, "built for \(Self.words(note.abi)), this host speaks \(Self.words(host.abi))",
        advice: note.abi.lowerBound > host.abi.upperBound
          ? "update the host, or rebuild it against this host's headers" : "rebuild it against this host's headers")
    }
    guard note.flags == 0 else {
      return PluginError(
        .abiMismatch, subject,
        "its note has the flags 0x\(String(note.flags, radix: 16)), which this host does not know",
        advice: "update the host")
    }
    let missing = requiredFeatures.missing(from: host.features).map { "\"\($0)\"" }
    guard missing.isEmpty else {
      let (features, them) = missing.count == 1 ? ("feature", "it") : ("features", "them")
      return PluginError(
        .missingFeature, subject,
        "requires the host \(features) \(missing.joined(separator: ", ")), which the host \(host.host) does not offer",
        advice: requiredFeatures.unknownNames.isEmpty
          ? "use it in a host that offers \(them)"
          : "the features that this host knows are \(HostFeatures.all.names.joined(separator: ", "))")
    }
    return nil
  }

  private func janssonRefusal(_ subject: PluginError.Subject) -> PluginError? {
    if let symbol = ownJanssonSymbol {
      return PluginError(
        .ownJansson, subject, "carries its own jansson (it defines \(symbol))",
        advice: "link against \(Self.jansson), the one copy in the process")
    }
    if let other = needed.first(where: { $0.hasPrefix("libjansson.") && $0 != Self.jansson }) {
      return PluginError(
        .ownJansson, subject, "needs \(other), but this host uses \(Self.jansson)",
        advice: "build the plugin with \(Self.jansson)")
    }
    guard usesJansson, !needed.contains(Self.jansson) else { return nil }
    return PluginError(
      .ownJansson, subject, "uses jansson without naming \(Self.jansson)", advice: "link it with -ljansson")
  }

  private func runtimeRefusal(_ subject: PluginError.Subject) -> PluginError? {
    guard case .mixed(let symbol) = swiftRuntime else { return nil }
    return PluginError(
      .mixedRuntimes, subject,
      "contains a Swift runtime that is mixed with that of the process (they share \(symbol))",
      advice: "build it with sluice plugin build --static-stdlib, or against the shared runtime")
  }

  private func hazardRefusal(_ subject: PluginError.Subject, _ host: HostOffer) -> PluginError? {
    guard let hazard = hazards.subtracting(host.allowed).min() else { return nil }
    return PluginError(
      .unsafeMemory, subject, hazard.reason,
      advice: "\(hazard.cure); or add \"allow\": [\"\(hazard.rawValue)\"] to the plugin in the configuration")
  }

  private static let jansson = "libjansson.so.4"

  private static func words(_ range: ClosedRange<UInt32>) -> String {
    range.count == 1 ? "ABI \(range.lowerBound)" : "ABI \(range.lowerBound) to \(range.upperBound)"
  }
}
