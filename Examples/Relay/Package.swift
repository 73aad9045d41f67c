// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "relay",
  dependencies: [.package(name: "sluice", path: "../..")],
  targets: [
    .executableTarget(
      name: "Relay",
      dependencies: [
        .product(name: "Sluice", package: "sluice"), .product(name: "SluiceJSON", package: "sluice"),
        .product(name: "SluiceServer", package: "sluice"), .product(name: "SluiceTraceContext", package: "sluice"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
