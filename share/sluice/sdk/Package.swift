// swift-tools-version: 6.2
import PackageDescription

/// The language features that the sources are written for. Warnings of a later compiler are not errors here.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// What authors of plugins need: the headers of the ABI, and the Swift module SluicePlugin, which uses them.
let package = Package(
  name: "sluice-sdk",
  products: [
    .library(name: "SluicePlugin", targets: ["SluicePlugin"]),
    .library(name: "CSluice", targets: ["CSluice"]),
  ],
  targets: [
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .target(
      name: "CSluice", dependencies: ["CJansson"], path: ".", sources: ["Sources/CSluice/abi_layout.c"],
      publicHeadersPath: "include"),
    .target(name: "SluiceMessages", swiftSettings: settings),
    .target(
      name: "SluiceJSON", dependencies: ["SluiceMessages", "SluiceSupport", "CJansson"], swiftSettings: settings),
    .target(name: "SluiceSupport", swiftSettings: settings),
    .target(name: "SluiceTraceContext", dependencies: ["SluiceMessages"], swiftSettings: settings),
    .target(
      name: "SluicePlugin",
      dependencies: ["CSluice", "CJansson", "SluiceSupport", "SluiceJSON", "SluiceTraceContext", "SluiceMessages"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
