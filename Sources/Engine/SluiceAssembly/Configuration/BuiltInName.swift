/// The stages that come with the engine, by their names in a configuration. There is no other list of them.
enum BuiltInName: String, CaseIterable { case headers, metrics }
