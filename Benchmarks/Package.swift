// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "sluice-benchmarks",
  products: [.executable(name: "sluice-bench", targets: ["sluice-bench"])],
  dependencies: [.package(name: "sluice", path: "..")],
  targets: [
    .systemLibrary(name: "CLibcurl", path: "Sources/CLibcurl", pkgConfig: "libcurl"),
    // The reference: a bare libcurl loop in C.
    .target(
      name: "CBareLoop", dependencies: ["CLibcurl"],
      cSettings: [.unsafeFlags(["-O2"]), .treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "sluice-bench",
      dependencies: [
        "CBareLoop", .product(name: "Sluice", package: "sluice"), .product(name: "TransportLoad", package: "sluice"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
      ]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
