// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "sluice-benchmarks",
  products: [
    .executable(name: "sluice-bench", targets: ["sluice-bench"]),
    .library(name: "bench-stage", type: .dynamic, targets: ["BenchStage"]),
  ],
  dependencies: [.package(name: "sluice", path: "..")],
  targets: [
    .systemLibrary(name: "CLibcurl", path: "Sources/CLibcurl", pkgConfig: "libcurl"),
    .systemLibrary(name: "COpenSSL", path: "Sources/COpenSSL", pkgConfig: "libssl"),
    // The reference clients and a test server in C, and functions that measure time and memory.
    .target(
      name: "CBareLoop", dependencies: ["CLibcurl", "COpenSSL"],
      cSettings: [.unsafeFlags(["-O2"]), .treatAllWarnings(as: .error)]),
    // The native stage whose cost is measured.
    .target(
      name: "BenchStage", dependencies: [.product(name: "CSluice", package: "sluice")],
      cSettings: [.unsafeFlags(["-O2"]), .treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "sluice-bench",
      dependencies: [
        "CBareLoop", .product(name: "Sluice", package: "sluice"), .product(name: "SluiceClient", package: "sluice"),
        .product(name: "SluicePlugin", package: "sluice"), .product(name: "TransportLoad", package: "sluice"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
      ]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
