// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "tenant",
  products: [.library(name: "tenant", type: .dynamic, targets: ["Tenant"])],
  dependencies: [.package(name: "sluice", path: "../..")],
  targets: [
    .target(name: "Tenant", dependencies: [.product(name: "SluicePlugin", package: "sluice")]),
    .testTarget(name: "TenantTests", dependencies: ["Tenant", .product(name: "SluiceKit", package: "sluice")]),
  ],
  swiftLanguageModes: [.v6]
)
