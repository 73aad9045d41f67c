// swift-tools-version: 6.2
import PackageDescription

/// Switches off the run-time checks for overlapping accesses, which would take a tenth of a request's cost. They are
/// not needed, because the state of a loop is used only by the thread of this loop, but the compiler cannot know that.
/// Debug builds, and therefore the tests, keep the checks. If Sluice is a fetched dependency, it keeps them too,
/// because SwiftPM does not allow unsafe flags in a dependency.
let isFetched = Context.packageDirectory.contains("/checkouts/")
let release: [SwiftSetting] =
  isFetched ? [] : [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// For every Swift target: Swift 6 mode, warnings are errors, and imports are internal unless they say otherwise.
let strict: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ] + release
/// For the pure targets: unsafe code must be marked. Debug builds check this.
let pure: [SwiftSetting] = strict + [.strictMemorySafety(.when(configuration: .debug))]
let strictC: [CSetting] = [.treatAllWarnings(as: .error)]

/// The linker flags of a library that brings its own Swift runtime into a foreign program, and exports only some symbols.
func hostLibrary(_ exports: String, _ more: [String] = []) -> [LinkerSetting] {
  guard !isFetched else { return [] }
  return [
    .unsafeFlags(
      [
        "-static-stdlib", "-use-ld=lld", "-L", "\(Context.packageDirectory)/Sources/Attach/SluiceAttachHost/link",
        "-Xclang-linker", "-static-libgcc",
        "-Xlinker", "--version-script=\(Context.packageDirectory)/\(exports)",
        "-Xlinker", "-Bsymbolic", "-Xlinker", "-znow", "-Xlinker", "--as-needed", "-Xlinker", "--gc-sections",
        "-Xlinker", "-zpack-relative-relocs", "-Xlinker", "--strip-debug",
      ] + more)
  ]
}

func cPlugin(_ name: String) -> Target {
  .target(
    name: name, dependencies: ["CSluice", "CJansson", "CWithoutRuntime"], path: "plugins/\(name)",
    exclude: ["README.md"],
    publicHeadersPath: ".", cSettings: strictC)
}

func swiftPlugin(_ name: String, module: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: module, dependencies: ["SluicePlugin"] + dependencies, path: "plugins/\(name)", exclude: ["README.md"],
    swiftSettings: strict)
}

/// The tests of a module. They name all that they use.
func tests(_ target: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(target)Tests", dependencies: [.init(stringLiteral: target)] + dependencies, swiftSettings: strict)
}

/// A plugin for tests, in the folder of that name.
func fixture(_ folder: String, _ module: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: module, dependencies: ["SluicePlugin"] + dependencies, path: "Tests/Fixtures/Plugins/\(folder)",
    swiftSettings: strict)
}

/// The folders of `Sources`, and the modules in each. The tests of a module are in the folder of `Tests` with the same
/// name.
let wings = [
  "Core": [
    "SluiceMessages", "SluiceTraceContext", "SluiceHTTP1", "SluicePipeline",
  ],
  "Base": ["SluiceSupport", "SluiceJSON", "SluiceJSONSchema", "SluiceIDNA", "CLinux", "CJSONSchema"],
  "Network": [
    "SluiceLoop", "SluiceTransport",
  ],
  "Plugins": [
    "CSluice", "SluicePlugin", "SluicePluginHost", "SluicePluginFile", "SluiceCrash", "CSymbolName",
    "SluiceTrial", "CacheRules", "OTLPRules", "AWSSignatureRules",
  ],
  "Engine": [
    "SluiceAssembly", "SluiceForeign", "Sluice", "SluiceReplay",
  ],
  "Client": [
    "SluiceClient", "SluiceCookies", "SluiceFoundation", "SluiceServer", "SluiceGateway", "SluiceControl",
    "SluiceUpdateRules", "SluiceUpdate",
  ],
  "Command": ["SluiceCommand", "SluiceLedger"],
  "Attach": ["CAttach", "CAttachABI", "SluiceAttachRules", "SluiceAttachHost"],
  "Envoy": ["CEnvoy", "CEnvoyModule", "SluiceEnvoyHost"],
  "System": [
    "CJansson", "CMicrohttpd", "CElf", "CCrypto", "CTLS", "CNGHTTP2", "CZlib", "CBrotli", "CZstd", "CIDN2",
    "CPSL", "CWithoutRuntime", "CStaticRuntime",
  ],
  "Kit": ["SluiceTestKit", "SluiceTestPipeline", "SluiceTestServers", "CTestKit", "CEnvoyPlayer", "CHTTPParser"],
]

/// Returns where the sources of a target are.
func folder(of target: String) -> String {
  let isTest = target.hasSuffix("Tests")
  let module = isTest ? String(target.dropLast("Tests".count)) : target
  guard let wing = wings.first(where: { $0.value.contains(module) })?.key else {
    fatalError("the target \(target) is in no wing")
  }
  return "\(isTest || wing == "Kit" ? "Tests" : "Sources")/\(wing)/\(target)"
}

let package = Package(
  name: "sluice",
  products: [
    .library(name: "Sluice", targets: ["Sluice"]),
    // All modules for programs in one product, without Foundation and without the server for tests.
    .library(
      name: "SluiceKit",
      targets: [
        "Sluice", "SluiceClient", "SluiceCookies", "SluiceControl", "SluiceCrash", "SluiceIDNA", "SluiceJSON",
        "SluiceJSONSchema", "SluiceLoop", "SluicePlugin", "SluicePluginFile", "SluicePluginHost", "SluiceReplay",
        "SluiceTraceContext", "SluiceTrial", "SluiceUpdate", "SluiceUpdateRules",
      ]),
    .library(name: "SluiceClient", targets: ["SluiceClient"]),
    .library(name: "SluiceCookies", targets: ["SluiceCookies"]),
    .library(name: "SluiceFoundation", targets: ["SluiceFoundation"]),
    .library(name: "SluiceControl", targets: ["SluiceControl"]),
    .library(name: "SluiceUpdate", targets: ["SluiceUpdate", "SluiceUpdateRules"]),
    .library(name: "SluicePlugin", targets: ["SluicePlugin"]),
    .library(name: "SluiceTraceContext", targets: ["SluiceTraceContext"]),
    // A program imports these modules only if it names their types. The engine contains them anyway.
    .library(name: "SluiceJSON", targets: ["SluiceJSON", "SluiceJSONSchema"]),
    .library(name: "SluiceLoop", targets: ["SluiceLoop"]),
    .library(name: "SluiceIDNA", targets: ["SluiceIDNA"]),
    // Recordings, and their replay.
    .library(name: "SluiceReplay", targets: ["SluiceReplay"]),
    // Trials of libraries, and the errors of plugins.
    .library(name: "SluiceTrial", targets: ["SluiceTrial", "SluicePluginFile", "SluicePluginHost"]),
    .library(name: "SluiceCrash", targets: ["SluiceCrash"]),
    .library(name: "CSluice", targets: ["CSluice"]),
    .library(name: "SluiceServer", targets: ["SluiceServer"]),
    // For the benchmarks, which are a package of their own.
    .library(name: "TransportLoad", targets: ["TransportLoad"]),
    // For the fuzzers, which are a package of their own.
    .library(name: "MessageProperties", targets: ["MessageProperties"]),
    .executable(name: "sluice", targets: ["SluiceCommand"]),
    // The two libraries that "sluice attach" puts into a program: one that the loader maps at the start, and one with
    // the pipeline.
    .library(name: "sluice-attach", type: .dynamic, targets: ["CAttach"]),
    .library(name: "sluice-attach-host", type: .dynamic, targets: ["SluiceAttachHost"]),
    // The module that Envoy loads.
    .library(name: "sluice-envoy", type: .dynamic, targets: ["SluiceEnvoyHost", "CEnvoyModule"]),
    .library(name: "bearer-auth", type: .dynamic, targets: ["bearer-auth"]),
    .library(name: "json-edit", type: .dynamic, targets: ["json-edit"]),
    .library(name: "static-headers", type: .dynamic, targets: ["static-headers"]),
    .library(name: "traffic-metrics", type: .dynamic, targets: ["traffic-metrics"]),
    // The plugins with CStaticRuntime contain Swift's runtime, so that "sluice attach" can load them into any program.
    .library(name: "access-log", type: .dynamic, targets: ["AccessLog", "CStaticRuntime"]),
    .library(name: "cache", type: .dynamic, targets: ["Cache"]),
    .library(name: "error-enrichment", type: .dynamic, targets: ["ErrorEnrichment"]),
    .library(name: "oauth-refresh", type: .dynamic, targets: ["OAuthRefresh", "CStaticRuntime"]),
    .library(name: "otlp", type: .dynamic, targets: ["OTLP", "CStaticRuntime"]),
    .library(name: "aws-sigv4", type: .dynamic, targets: ["AWSSigV4", "CStaticRuntime"]),
    // Plugins of the tests. They must be products, because SwiftPM builds a separate library only for a product.
    .library(name: "swift-work", type: .dynamic, targets: ["SwiftWork"]),
    .library(name: "swift-bodies", type: .dynamic, targets: ["SwiftBodies"]),
    .library(name: "swift-stamps", type: .dynamic, targets: ["SwiftStamps"]),
    .library(name: "calls-in-swift", type: .dynamic, targets: ["CallsInSwift"]),
    .library(name: "chaos-in-swift", type: .dynamic, targets: ["ChaosInSwift"]),
    .library(name: "crashes-in-swift", type: .dynamic, targets: ["CrashesInSwift"]),
    // The same plugin twice: linked with Swift's shared runtime, and with a static one.
    .library(name: "sleeps-in-swift", type: .dynamic, targets: ["SleepsInSwift"]),
    .library(name: "sleeps-statically", type: .dynamic, targets: ["SleepsInSwift", "CStaticRuntime"]),
    .library(name: "tables-in-swift", type: .dynamic, targets: ["TablesInSwift"]),
    .library(name: "traces-in-swift", type: .dynamic, targets: ["TracesInSwift"]),
  ],
  targets: [
    // The ABI. Its headers are in the top-level folder `include`, for C, for Swift and for other packages.
    .target(
      name: "CSluice", dependencies: ["CJansson"], path: ".", sources: ["Sources/Plugins/CSluice/abi_layout.c"],
      publicHeadersPath: "include",
      cSettings: strictC),

    // System libraries, each with the few inline wrappers that Swift needs.
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CElf", pkgConfig: "libelf", providers: [.apt(["libelf-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
    .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
    .target(name: "CLinux", cSettings: strictC),
    .target(name: "CJSONSchema"),

    // Pure: no C, no I/O, no JSON, no unsafe code.
    .target(name: "SluiceMessages", swiftSettings: pure),
    .target(name: "SluiceTraceContext", dependencies: ["SluiceMessages"], swiftSettings: pure),
    .target(name: "SluiceHTTP1", dependencies: ["SluiceMessages"], swiftSettings: pure),
    .target(
      name: "SluicePipeline",
      dependencies: ["SluiceMessages", "SluiceTraceContext"],
      swiftSettings: pure),

    // The edges.
    .target(name: "SluiceSupport", swiftSettings: strict),
    .target(
      name: "SluiceJSON", dependencies: ["SluiceMessages", "SluiceSupport", "CJansson"], swiftSettings: strict),
    // Separate from SluiceJSON, so that plugins do not contain the C++ code for regular expressions.
    .target(
      name: "SluiceJSONSchema", dependencies: ["SluiceMessages", "SluiceJSON", "CJSONSchema"], swiftSettings: strict),
    // Separate from SluiceMessages, so that plugins, which contain SluiceMessages, do not link libidn2.
    .target(name: "SluiceIDNA", dependencies: ["SluiceMessages", "CIDN2"], swiftSettings: strict),
    // Separate from the client, so that tests need no engine for the rules of cookies, and only clients link libpsl.
    .target(name: "SluiceCookies", dependencies: ["SluiceMessages", "SluiceSupport", "CPSL"], swiftSettings: strict),
    .target(
      name: "SluiceLoop", dependencies: ["SluicePipeline", "SluiceMessages", "SluiceSupport", "CLinux"],
      swiftSettings: strict),
    .target(
      name: "SluiceTransport",
      dependencies: [
        "SluiceLoop", "SluicePipeline", "SluiceHTTP1", "SluiceMessages", "SluiceSupport", "CLinux", "CTLS", "CCrypto",
        "CNGHTTP2", "CZlib", "CBrotli", "CZstd",
      ], swiftSettings: strict),
    .target(
      name: "TransportLoad",
      dependencies: ["SluiceTransport", "SluiceLoop", "SluicePipeline", "SluiceMessages"],
      path: "Benchmarks/Sources/TransportLoad", swiftSettings: strict),
    .target(
      name: "SluicePluginHost",
      dependencies: [
        "SluicePipeline", "SluiceTraceContext", "SluiceMessages",
        "SluiceIDNA", "SluiceJSON", "SluiceJSONSchema", "SluiceSupport", "CSluice", "CLinux",
      ], swiftSettings: strict),
    // Makes a checked copy of the library at a path. Separate from SluicePluginHost, so that a host in a foreign program
    // links neither libelf nor libcrypto.
    .target(
      name: "SluicePluginFile",
      dependencies: ["SluicePluginHost", "SluiceMessages", "SluiceSupport", "CElf", "CCrypto"], swiftSettings: strict),
    .target(
      name: "SluiceCrash",
      dependencies: [
        "SluicePluginFile", "SluicePluginHost", "SluiceMessages", "SluiceJSON", "SluiceSupport", "CLinux", "CElf",
        "CSymbolName",
      ], swiftSettings: strict),
    // libstdc++ demangles the names of symbols.
    .target(name: "CSymbolName", cSettings: strictC, linkerSettings: [.linkedLibrary("stdc++")]),
    // Tries libraries out in a child process: before a swap, and for their authors.
    .target(
      name: "SluiceTrial",
      dependencies: [
        "SluicePluginHost", "SluicePluginFile", "SluiceCrash", "SluiceLoop", "SluicePipeline",
        "SluiceMessages", "SluiceIDNA", "SluiceJSON", "SluiceSupport", "CSluice", "CLinux",
      ], swiftSettings: strict),
    .target(
      name: "SluiceServer",
      dependencies: [
        "SluiceTransport", "SluiceLoop", "SluicePipeline", "SluiceHTTP1", "SluiceMessages", "SluiceJSON",
        "SluiceSupport",
        "CMicrohttpd", "CNGHTTP2", "CLinux",
      ],
      swiftSettings: strict),

    // Makes a pipeline from a configuration and loaded libraries. Links neither libelf nor libcrypto nor a transport,
    // so that a host in a foreign program can link it.
    .target(
      name: "SluiceAssembly",
      dependencies: [
        "SluicePlugin", "SluicePluginHost", "SluicePipeline",
        "SluiceTraceContext", "SluiceMessages", "SluiceIDNA", "SluiceJSON", "SluiceJSONSchema",
        "SluiceSupport", "CSluice",
      ], swiftSettings: strict),
    // The pipeline of a program that makes the requests itself. Links what SluiceAssembly links.
    .target(
      name: "SluiceForeign",
      dependencies: [
        "SluiceAssembly", "SluicePluginHost", "SluiceLoop", "SluicePipeline", "SluiceMessages", "SluiceIDNA",
        "SluiceJSON", "SluiceSupport",
      ], swiftSettings: strict),
    // The engine: the module that programs import.
    .target(
      name: "Sluice",
      dependencies: [
        "SluiceReplay", "SluiceAssembly", "SluicePlugin", "SluicePluginHost", "SluicePluginFile", "SluiceTrial",
        "SluiceTransport", "SluiceLoop", "SluicePipeline", "SluiceTraceContext", "SluiceMessages", "SluiceJSON",
        "SluiceSupport",
      ], swiftSettings: strict),
    // The calls of a client, downloads and forms. Separate from Sluice, because a program may use the engine alone.
    .target(
      name: "SluiceClient",
      dependencies: [
        "Sluice", "SluiceCookies", "SluiceAssembly", "SluicePipeline",
        "SluiceMessages", "SluiceJSON", "SluiceSupport",
      ],
      swiftSettings: strict),
    // Separate from the client, because nothing else needs Foundation.
    .target(
      name: "SluiceFoundation",
      dependencies: [
        "SluiceClient", "SluiceCookies", "Sluice", "SluiceAssembly", "SluicePlugin", "SluicePipeline",
        "SluiceMessages", "SluiceIDNA", "SluiceSupport",
      ],
      swiftSettings: strict),
    // The rules by which a client accepts signed releases.
    .target(name: "SluiceUpdateRules", dependencies: ["SluiceMessages"], swiftSettings: pure),
    .target(
      name: "SluiceUpdate",
      dependencies: [
        "SluiceUpdateRules", "SluiceClient", "Sluice", "SluiceAssembly", "SluiceTrial", "SluicePluginFile",
        "SluicePluginHost", "SluicePipeline", "SluiceMessages", "SluiceJSON", "SluiceSupport", "CCrypto",
        "SluicePlugin",
      ], swiftSettings: strict),
    // Journals as text and JSON, recordings, and their comparison. Separate from the engine, because few programs name
    // these types.
    .target(
      name: "SluiceReplay",
      dependencies: [
        "SluiceAssembly", "SluiceTransport", "SluiceLoop", "SluicePluginHost", "SluicePluginFile",
        "SluiceTrial", "SluicePipeline", "SluiceTraceContext", "SluiceMessages", "SluiceJSON", "SluiceSupport",
      ], swiftSettings: strict),
    // Serves clients of other programs with an engine.
    .target(
      name: "SluiceGateway",
      dependencies: [
        "Sluice", "SluiceAssembly", "SluiceServer", "SluiceLoop", "SluicePipeline", "SluiceTraceContext", "SluiceHTTP1",
        "SluiceTransport", "SluiceMessages", "SluiceJSON", "SluiceSupport",
      ], swiftSettings: strict),
    // Separate from Sluice, so that a program without a control socket links no server.
    .target(
      name: "SluiceControl",
      dependencies: [
        "Sluice", "SluiceAssembly", "SluiceServer", "SluicePipeline", "SluiceMessages", "SluiceJSON",
        "SluiceSupport",
      ], swiftSettings: strict),
    .target(
      name: "SluicePlugin",
      dependencies: ["CSluice", "CJansson", "SluiceSupport", "SluiceJSON", "SluiceTraceContext", "SluiceMessages"],
      swiftSettings: strict),

    // Linker flags for products in C, which must not link Swift's runtime.
    .target(
      name: "CWithoutRuntime", cSettings: strictC, linkerSettings: isFetched ? [] : [.unsafeFlags(["-nostartfiles"])]),
    // The interface between the preloaded library and the host library, which are separate files.
    .target(name: "CAttachABI", cSettings: strictC),
    // Written in C and linked only with libc, because it is mapped into programs that may never make a transfer.
    .target(
      name: "CAttach", dependencies: ["CAttachABI", "CWithoutRuntime"], exclude: ["exports.map"],
      publicHeadersPath: ".",
      cSettings: strictC + (isFetched ? [] : [.unsafeFlags(["-fvisibility=hidden"])]),
      linkerSettings: isFetched
        ? []
        : [
          .unsafeFlags([
            "-no-toolchain-stdlib-rpath", "-Xlinker", "-znow", "-Xlinker", "-Bsymbolic-functions",
            // Debuggers and valgrind would read the debug information together with that of the program. Some of them
            // do not know its format.
            "-Xlinker", "--strip-debug", "-Xlinker",
            "--version-script=\(Context.packageDirectory)/Sources/Attach/CAttach/exports.map",
          ])
        ]),
    // The host's rules for the headers of a program. Separate from the host, because tests cannot use the host's linker
    // flags.
    .target(name: "SluiceAttachRules", dependencies: ["SluiceMessages"], swiftSettings: pure),
    // Contains its own Swift runtime. It exports one symbol, so that the program does not see this runtime.
    .target(
      name: "SluiceAttachHost",
      dependencies: [
        "CAttachABI", "SluiceAttachRules", "SluiceForeign", "SluiceAssembly", "SluicePluginHost", "SluiceLoop",
        "SluicePipeline", "SluiceTraceContext", "SluiceMessages", "SluiceJSON", "SluiceSupport",
      ], exclude: ["exports.map", "link"], swiftSettings: strict,
      linkerSettings: hostLibrary("Sources/Attach/SluiceAttachHost/exports.map")),

    // What the module needs of Envoy's own ABI.
    .target(name: "CEnvoy", cSettings: strictC),
    // The module without the linker flags of the library, which do not fit the tests.
    .target(
      name: "SluiceEnvoyHost",
      dependencies: [
        "CEnvoy", "SluiceForeign", "SluiceAssembly", "SluicePluginHost", "SluiceLoop", "SluicePipeline",
        "SluiceTraceContext", "SluiceMessages", "SluiceJSON", "SluiceSupport", "CCrypto", "CLinux",
      ], swiftSettings: strict),
    // Linker flags for the library: it contains its own Swift runtime and exports only what Envoy looks up. Envoy unmaps
    // its modules at the end of the process, but not a library that is linked with "nodelete".
    .target(
      name: "CEnvoyModule", exclude: ["exports.map"], cSettings: strictC,
      linkerSettings: hostLibrary("Sources/Envoy/CEnvoyModule/exports.map", ["-Xlinker", "-znodelete"])),

    // Checks a log of events. Separate from the command, so that tests check the events of an engine with it.
    .target(
      name: "SluiceLedger", dependencies: ["SluicePipeline", "SluiceTraceContext", "SluiceMessages"],
      swiftSettings: pure),
    .executableTarget(
      name: "SluiceCommand",
      dependencies: [
        "Sluice", "SluiceUpdate", "SluiceUpdateRules", "SluiceClient", "SluiceControl", "SluiceCookies", "SluiceReplay",
        "SluiceServer", "SluiceGateway", "SluiceForeign", "SluiceAssembly", "SluiceLedger", "SluicePipeline",
        "SluiceTraceContext", "SluiceTransport", "SluiceMessages", "SluiceIDNA", "SluiceJSON",
        "SluicePluginHost", "SluicePluginFile", "SluiceCrash", "SluiceTrial", "SluiceLoop",
        "SluiceSupport", "SluicePlugin", "AWSSignatureRules", "AWSSignatureStage", "CAttachABI", "CLinux",
      ],
      swiftSettings: strict),

    // Contains only linker flags, for the products that depend on it: the flags of "sluice plugin build
    // --static-stdlib".
    .target(
      name: "CStaticRuntime",
      linkerSettings: isFetched
        ? []
        : [
          .unsafeFlags([
            "-static-stdlib", "-Xlinker", "--version-script=\(Context.packageDirectory)/share/sluice/sdk/exports.map",
            "-Xlinker", "-Bsymbolic",
          ])
        ]),

    // Shipped plugins.
    cPlugin("bearer-auth"), cPlugin("json-edit"), cPlugin("static-headers"), cPlugin("traffic-metrics"),
    swiftPlugin("access-log", module: "AccessLog", ["SluiceMessages", "SluiceSupport"]),
    swiftPlugin("error-enrichment", module: "ErrorEnrichment"),
    swiftPlugin("oauth-refresh", module: "OAuthRefresh", ["SluiceMessages", "SluiceSupport", "CCrypto"]),
    // The rules of RFC 9111. Separate from the plugin, so that tests can import them.
    .target(name: "CacheRules", dependencies: ["SluiceMessages"], path: "plugins/cache/Rules", swiftSettings: pure),
    .target(
      name: "Cache", dependencies: ["CacheRules", "SluicePlugin", "SluiceSupport", "SluiceMessages", "CCrypto"],
      path: "plugins/cache/Plugin", swiftSettings: strict),

    // The rules of OpenTelemetry's conventions and of OTLP. Separate from the plugin, so that tests can import them.
    .target(
      name: "OTLPRules", dependencies: ["SluiceJSON", "SluiceMessages"], path: "plugins/otlp/Rules",
      swiftSettings: pure),
    .target(
      name: "OTLP", dependencies: ["OTLPRules", "SluicePlugin", "SluiceSupport", "SluiceMessages"],
      path: "plugins/otlp/Plugin", swiftSettings: strict),

    // The rules of version 4 of AWS's signatures. Separate from the plugin, so that tests can import them.
    .target(
      name: "AWSSignatureRules", dependencies: ["SluiceMessages"], path: "plugins/aws-sigv4/Rules",
      swiftSettings: pure),
    // The stage that signs. Separate from the plugin's entry point, so that the command can use it too.
    .target(
      name: "AWSSignatureStage",
      dependencies: ["AWSSignatureRules", "SluicePlugin", "SluiceSupport", "SluiceMessages", "CCrypto"],
      path: "plugins/aws-sigv4/Stage", swiftSettings: strict),
    .target(
      name: "AWSSigV4", dependencies: ["AWSSignatureRules", "AWSSignatureStage", "SluicePlugin"],
      path: "plugins/aws-sigv4/Plugin", swiftSettings: strict),

    // Tests.
    .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
    .target(
      name: "MessageProperties", dependencies: ["SluiceHTTP1", "SluiceMessages"],
      path: "Fuzzers/Sources/MessageProperties", swiftSettings: strict),
    fixture("swift-work", "SwiftWork"),
    fixture("swift-bodies", "SwiftBodies"),
    fixture("swift-stamps", "SwiftStamps"),
    fixture("calls-in-swift", "CallsInSwift"),
    fixture("chaos-in-swift", "ChaosInSwift", ["SluiceSupport"]),
    fixture("crashes-in-swift", "CrashesInSwift"),
    fixture("sleeps-in-swift", "SleepsInSwift"),
    fixture("tables-in-swift/Entry", "TablesInSwift", ["TablesStage"]),
    fixture("tables-in-swift/Stage", "TablesStage"),
    fixture("traces-in-swift", "TracesInSwift"),
    // A program that "sluice attach" runs in tests.
    .executableTarget(name: "url-session", path: "Tests/Fixtures/Programs/url-session", swiftSettings: strict),
    // Encodes the input for tests of the decoders.
    .target(
      name: "CTestKit", dependencies: ["CZlib", "CZstd"], cSettings: strictC,
      linkerSettings: [.linkedLibrary("brotlienc")]),
    // Plays the part of Envoy.
    .target(name: "CEnvoyPlayer", dependencies: ["CEnvoy"], cSettings: strictC),
    // Three parts, so that the tests of a module build no server and no pipeline that they do not need.
    .target(name: "SluiceTestKit", dependencies: ["SluiceSupport", "CTestKit"], swiftSettings: strict),
    .target(
      name: "SluiceTestPipeline", dependencies: ["SluiceTestKit", "SluicePipeline", "SluiceMessages"],
      swiftSettings: strict),
    .target(
      name: "SluiceTestServers", dependencies: ["SluiceTestKit", "SluiceServer", "SluiceSupport", "CTestKit"],
      swiftSettings: strict),
    tests("SluiceTestKit"),
    tests("SluiceTestServers", ["SluiceServer", "SluiceTestKit"]),
    tests("SluiceMessages", ["SluiceTestKit"]),
    tests("SluiceTraceContext", ["SluiceMessages", "SluiceTestKit"]),
    tests("SluiceHTTP1", ["SluiceMessages", "MessageProperties", "CHTTPParser", "SluiceTestKit"]),
    tests("SluiceSupport", ["SluiceTestKit"]),
    tests("SluiceJSON", ["SluiceJSONSchema", "SluiceMessages", "SluiceTestKit"]),
    tests("SluiceJSONSchema", ["SluiceJSON", "SluiceTestKit"]),
    tests("SluicePipeline", ["SluiceLedger", "SluiceMessages", "SluiceTestKit", "SluiceTestPipeline"]),
    tests("SluiceIDNA", ["SluiceMessages"]),
    tests("SluiceLoop", ["SluiceMessages", "SluicePipeline", "SluiceSupport", "SluiceTestKit"]),
    tests(
      "SluiceTransport",
      [
        "SluiceLoop", "SluicePipeline", "SluiceHTTP1", "SluiceMessages", "SluiceServer", "SluiceSupport", "CLinux",
        "SluiceTestKit", "SluiceTestPipeline", "SluiceTestServers",
      ]),
    tests(
      "SluiceGateway",
      [
        "Sluice", "SluiceAssembly", "SluiceServer", "SluicePipeline", "SluiceMessages", "SluiceSupport",
        "SluiceTestKit",
        "SluiceTestServers",
      ]),
    tests(
      "SluiceServer",
      ["SluiceLoop", "SluiceHTTP1", "SluiceMessages", "SluiceJSON", "SluiceTestKit", "SluiceTestServers"]),
    tests(
      "SluicePluginHost",
      [
        "SluicePluginFile", "SluicePipeline", "SluiceTraceContext", "SluiceMessages", "SluiceJSON", "SluiceLoop",
        "SluiceSupport", "CSluice", "SluiceTestKit", "SluiceTestPipeline",
      ]),
    tests("SluicePluginFile", ["SluiceCrash", "SluicePluginHost", "SluiceSupport", "SluiceTestKit"]),
    tests(
      "SluiceCrash",
      [
        "Sluice", "SluiceJSON", "SluicePluginHost", "SluiceServer", "SluiceTestKit", "SluiceTestServers",
      ]),
    tests("SluiceTrial", ["SluicePluginHost", "SluicePluginFile", "SluiceJSON", "SluiceTestKit"]),
    tests("SluicePlugin", ["SluiceJSON", "SluiceSupport", "CSluice", "CJansson", "SluiceTestKit"]),
    tests(
      "SluiceAssembly",
      [
        "SluiceMessages", "SluicePipeline", "SluiceJSON", "SluiceSupport", "SluiceTraceContext", "SluiceTestKit",
        "SluiceTestPipeline",
      ]),
    tests(
      "Sluice",
      [
        "SluiceAssembly", "SluiceReplay", "SluiceLedger", "SluiceServer", "SluicePipeline", "SluiceTraceContext",
        "SluiceMessages", "SluiceIDNA", "SluiceJSON", "SluiceJSONSchema", "SluicePluginHost", "SluicePluginFile",
        "SluiceTrial", "SluiceTransport", "SluiceLoop", "SluiceSupport", "TablesStage", "SluicePlugin",
        "SluiceTestKit", "SluiceTestPipeline", "SluiceTestServers",
      ]),
    tests(
      "SluiceReplay",
      [
        "Sluice", "SluiceJSON", "SluiceMessages", "SluicePipeline", "SluicePlugin", "SluicePluginHost", "SluiceServer",
        "SluiceSupport", "SluiceTraceContext", "SluiceTestKit", "SluiceTestServers",
      ]),
    tests("SluiceControl", ["Sluice", "SluiceServer", "SluiceJSON", "SluiceTestKit", "SluiceTestServers"]),
    tests(
      "SluiceClient",
      [
        "Sluice", "SluiceAssembly", "SluicePlugin", "SluiceLedger", "SluicePipeline", "SluiceMessages", "SluiceServer",
        "SluiceJSON", "SluiceSupport", "SluiceLoop", "SluiceTestKit", "SluiceTestServers",
      ]),
    tests(
      "SluiceCookies",
      [
        "SluiceClient", "SluiceAssembly", "SluicePlugin", "SluicePipeline", "SluiceMessages", "SluiceServer",
        "SluiceTestKit", "SluiceTestServers",
      ]),
    tests(
      "SluiceFoundation",
      [
        "SluiceClient", "SluiceCookies", "SluiceAssembly", "SluicePlugin", "SluicePipeline", "SluiceMessages",
        "SluiceServer", "Sluice", "SluiceTestKit", "SluiceTestServers",
      ]),
    tests("SluiceUpdateRules"),
    tests(
      "SluiceUpdate",
      [
        "SluiceUpdateRules", "Sluice", "SluiceAssembly", "SluicePipeline", "SluiceMessages", "SluiceJSON",
        "SluiceServer", "SluiceSupport", "SluiceTestKit", "SluiceTestServers",
      ]),
    tests(
      "SluiceLedger",
      [
        "SluicePipeline", "SluiceTraceContext", "SluiceMessages", "SluiceTestKit", "SluiceTestPipeline",
      ]),
    tests("SluiceAttachRules", ["SluiceMessages"]),
    tests(
      "SluiceEnvoyHost", ["CEnvoyPlayer", "SluicePluginHost", "SluicePluginFile", "SluiceJSON", "SluiceTestKit"]),
    tests("CacheRules", ["SluiceMessages"]),
    tests("OTLPRules", ["SluiceMessages", "SluiceJSON"]),
    tests("AWSSignatureRules", ["AWSSignatureStage", "SluiceMessages"]),
    tests(
      "SluiceCommand",
      [
        "SluiceServer", "SluiceMessages", "SluiceJSON", "SluiceJSONSchema", "CLinux", "Sluice", "SluiceAssembly",
        "SluicePipeline", "SluicePluginFile", "SluicePluginHost", "SluiceSupport", "SluiceTestKit",
        "SluiceTestServers",
      ]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11,
  cxxLanguageStandard: .cxx17
)

for target in package.targets where target.path == nil { target.path = folder(of: target.name) }

/// Keeps these targets, and the products that consist of them.
func keepOnly(_ names: Set<String>, in package: Package) {
  package.targets.removeAll { !names.contains($0.name) }
  package.products.removeAll { product in
    let targets = (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
    return !names.isSuperset(of: targets)
  }
}

/// Keeps only the tests of one module, and what they need.
func keepOnlyTests(of module: String, in package: Package) {
  let all = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var needed: Set<String> = []
  var open = ["\(module)Tests"]
  while let name = open.popLast() {
    guard let target = all[name] else { fatalError("there is no target \(name)") }
    guard needed.insert(name).inserted else { continue }
    for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
  }
  keepOnly(needed, in: package)
}

// A package that depends on Sluice sees neither tests nor benchmarks nor fuzzers.
if isFetched {
  let own = package.targets.filter { target in
    !["Tests/", "Benchmarks/", "Fuzzers/"].contains { target.path?.hasPrefix($0) == true }
  }
  keepOnly(Set(own.map(\.name)), in: package)
}
// scripts/try.sh sets this variable.
if let module = Context.environment["SLUICE_TRY"] { keepOnlyTests(of: module, in: package) }
