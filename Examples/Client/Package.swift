// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "client",
  dependencies: [.package(name: "sluice", path: "../..")],
  targets: [
    .executableTarget(
      name: "Client",
      dependencies: [
        .product(name: "SluiceKit", package: "sluice"), .product(name: "SluiceFoundation", package: "sluice"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
