import Glibc
import SluiceJSON
import SluiceSupport

/// The parts of Envoy's configuration that name the filters of the module.
enum EnvoyFragments {
  static func text(of folder: String) -> String {
    """
    # The environment of Envoy; libsluice-envoy.so is in this folder:
    #   ENVOY_DYNAMIC_MODULES_SEARCH_PATH=\(moduleFolder ?? "FOLDER")

    # In http_filters of the listener, before envoy.filters.http.router:
    \(filter("pipeline", folder))

    # In the cluster, if the configuration of Sluice has issue stages:
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http_protocol_options: {}}
        http_filters:
    \(filter("issue", folder, indent: "    "))
        - name: envoy.filters.http.upstream_codec
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec

    """
  }

  /// Where the module is: beside the command in a build folder, or in `../lib/sluice` of an installation.
  private static var moduleFolder: String? {
    guard let program = RunningProgram.path() else { return nil }
    let folder = Paths.folder(of: program)
    return [folder, "\(folder)/../lib/sluice"].first { access("\($0)/libsluice-envoy.so", R_OK) == 0 }
      .map { Paths.resolved($0) ?? $0 }
  }

  private static func filter(_ name: String, _ folder: String, indent: String = "") -> String {
    // A JSON string is a YAML string too.
    let plan = JSONValue("{\"plan\": \(JSONValue(folder))}")
    return """
      - name: sluice.\(name)
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter
          dynamic_module_config: {name: sluice-envoy, do_not_close: true}
          filter_name: \(name)
          filter_config: {"@type": type.googleapis.com/google.protobuf.StringValue, value: \(plan)}
      """.split(separator: "\n").map { indent + $0 }.joined(separator: "\n")
  }
}
