// swift-tools-version: 6.2
import PackageDescription

// Two plugins in a separate package, each in its own library. Outside this repository, the dependency is the installed
// SDK, `.package(path: "/usr/local/share/sluice/sdk")`, and the package of the product is "sdk".
let package = Package(
  name: "add-header",
  products: [
    .library(name: "add-header", type: .dynamic, targets: ["AddHeader"]),
    .library(name: "ask-directory", type: .dynamic, targets: ["AskDirectory"]),
  ],
  dependencies: [.package(name: "sluice", path: "../..")],
  targets: [
    .target(name: "AddHeader", dependencies: [.product(name: "SluicePlugin", package: "sluice")]),
    .target(name: "AskDirectory", dependencies: [.product(name: "SluicePlugin", package: "sluice")]),
  ],
  swiftLanguageModes: [.v6]
)
