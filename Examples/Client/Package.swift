// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "client",
  dependencies: [.package(name: "sluice", path: "../..")],
  targets: [
    .executableTarget(
      name: "Client",
      dependencies: [
        .product(name: "Sluice", package: "sluice"), .product(name: "SluiceClient", package: "sluice"),
        .product(name: "SluiceControl", package: "sluice"), .product(name: "SluiceCookies", package: "sluice"),
        .product(name: "SluiceFoundation", package: "sluice"),
        .product(name: "SluiceJSON", package: "sluice"), .product(name: "SluiceLoop", package: "sluice"),
        .product(name: "SluicePlugin", package: "sluice"), .product(name: "SluiceReplay", package: "sluice"),
        .product(name: "SluiceTraceContext", package: "sluice"), .product(name: "SluiceTrial", package: "sluice"),
        .product(name: "SluiceUpdate", package: "sluice"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
