/// The stages that come with the engine, by their names in a configuration: the only list of them.
enum BuiltInName: String, CaseIterable { case headers, metrics }
