package import SluiceJSON

extension ProcessUsage {
  package func document() -> JSONValue {
    let document = JSONValue.object()
    document["residentBytes"] = residentBytes.map { JSONValue(Int64($0)) }
    document["openDescriptors"] = openDescriptors.map { JSONValue(Int64($0)) }
    document["maxDescriptors"] = descriptorLimit.map { JSONValue(Int64($0)) }
    return document
  }

  /// Writes the metrics of the process, under the names that the client libraries of Prometheus use.
  package func write(to text: inout PrometheusText) {
    let gauges = [
      ("process_resident_memory_bytes", "Resident memory of the process.", residentBytes),
      ("process_open_fds", "Number of open file descriptors.", openDescriptors),
      ("process_max_fds", "Maximum number of open file descriptors.", descriptorLimit),
    ]
    for (name, help, value) in gauges {
      guard let value else { continue }
      text.begin(name, "gauge", help)
      text.sample(UInt64(value))
    }
  }
}
