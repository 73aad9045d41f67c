// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "compare",
  dependencies: [.package(name: "sluice", path: "../..")],
  targets: [
    .executableTarget(
      name: "Compare",
      dependencies: [
        .product(name: "SluiceClient", package: "sluice"), .product(name: "SluiceCookies", package: "sluice"),
        .product(name: "SluicePlugin", package: "sluice"), .product(name: "SluiceServer", package: "sluice"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
