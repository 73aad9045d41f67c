import CElf
import Glibc
import SluiceMessages
public import SluicePluginHost
import SluiceSupport

extension LibraryFacts {
  /// Reads an image. Fails unless it is a complete shared library for this machine; `refusal(by:at:)` says whether this
  /// host can use it as a plugin.
  package init(of image: LibraryImage) throws(PluginError) {
    self = try image.content.withUnsafeBytes { (bytes) throws(PluginError) in
      try LibraryFacts(bytes: bytes, hash: image.hash, path: image.path, folder: image.folder)
    }
  }

  /// Reads only the bytes of this library; libraries next to it are not examined.
  /// - Parameter path: the name of the library in messages.
  public init(bytes: [UInt8], path: String) throws(PluginError) {
    guard let hash = ContentHash(of: bytes) else { throw ContentHash.unavailable(.plugin(name: nil, path: path)) }
    self = try bytes.withUnsafeBufferPointer { (bytes) throws(PluginError) in
      try LibraryFacts(bytes: UnsafeRawBufferPointer(bytes), hash: hash, path: path, folder: nil)
    }
  }

  init(bytes: UnsafeRawBufferPointer, hash: ContentHash, path: String, folder: String?) throws(PluginError) {
    let subject = PluginError.Subject.plugin(name: nil, path: path)
    try ELFFile.requireHeader(bytes, subject)
    self = try ELFFile.withFile(bytes, subject) { (file: borrowing ELFFile) throws(PluginError) in
      try file.requireComplete(subject)
      let mappedBytes = try file.requireLoadable(subject)
      var facts = try LibraryFacts(file, hash, subject, folder)
      facts.mappedBytes = mappedBytes
      try file.requireBuildID(facts.buildID, in: bytes, subject)
      return facts
    }
  }

  private init(
    _ file: borrowing ELFFile, _ hash: ContentHash, _ subject: PluginError.Subject, _ folder: String?
  ) throws(PluginError) {
    let sections = file.sections()
    let survey = SymbolSurvey(file, sections)
    let links = DynamicLinks(file, sections)
    guard !links.isProgram else {
      throw PluginError(
        .notSharedLibrary, subject, "is a program, not a shared library", advice: "link it with -shared")
    }
    self.init(
      machine: MachineName.of(file.header.e_machine), entry: survey.entry,
      language: Self.language(survey, links.needed), hash: hash, sizeBytes: file.sizeBytes)
    do throws(PluginNote.Malformed) {
      if let section = sections.first(where: { $0.name == ".note.sluice" }) {
        note = try PluginNote(section: file.content(of: section)[...])
      }
      requiredFeatures = try RequiredFeatures(sections: sections.lazy.map(\.name))
    } catch {
      noteFault = error.reason
    }
    buildID = sections.first { $0.name == ".note.gnu.build-id" }.flatMap { Self.buildID(file.content(of: $0)) }
    soname = links.soname
    needed = links.needed
    privateLibraries = links.privateLibraries(of: folder).map(\.name)
    entryProvider = survey.entry == .absent ? links.entryProvider(of: folder) : nil
    exportedSymbolCount = survey.exportedSymbolCount
    strayExports = survey.strayExports
    uniqueSymbols = survey.uniqueSymbols
    usesJansson = survey.usesJansson
    ownJanssonSymbol = survey.ownJanssonSymbol
    swiftRuntime = Self.swiftRuntime(survey, links.needed)
    threadStarter = survey.threadStarter
    sanitizer = survey.sanitizer
    hazards = file.hazards(links)
  }

  /// The build id in a section or segment of notes, in hex.
  static func buildID(_ notes: [UInt8]) -> String? {
    for record in NoteRecords(notes[...]) where record.owner == "GNU" && record.type == UInt32(NT_GNU_BUILD_ID) {
      return record.contents.first.map(\.hexadecimal)
    }
    return nil
  }

  private static func swiftRuntime(_ survey: SymbolSurvey, _ needed: [String]) -> SwiftRuntime? {
    let core = "libswiftCore.so"
    if let symbol = survey.exportedRuntimeSymbol { return .mixed(symbol: symbol) }
    guard let symbol = survey.ownRuntimeSymbol else {
      guard survey.usesSwift else { return nil }
      // A stripped library does not list all functions that it defines, but it lists the functions that it needs.
      return needed.contains(core) || survey.foreignRuntimeSymbol != nil ? .shared : .own
    }
    if let foreign = survey.foreignRuntimeSymbol { return .mixed(symbol: foreign) }
    // Any library of Swift itself depends on the shared runtime.
    let brings = needed.contains { $0.hasPrefix("libswift") || $0.hasPrefix("libFoundation") }
    return brings ? .mixed(symbol: symbol) : .own
  }

  private static func language(_ survey: SymbolSurvey, _ needed: [String]) -> Language {
    // A library that needs libswiftCore.so is not always Swift: SwiftPM links it to the libraries of C targets too.
    if survey.usesSwift || survey.ownRuntimeSymbol != nil { return .swift }
    let cPlusPlus = survey.usesCPlusPlus || needed.contains { $0.hasPrefix("libstdc++.") || $0.hasPrefix("libc++.") }
    return cPlusPlus ? .cPlusPlus : .c
  }
}

extension LibraryImage {
  /// The folder of the library's own path, also if its bytes were read from a copy.
  package var folder: String { LibraryPermissions.folder(of: (try? Self.resolve(path)) ?? realPath) }
}
