// The plugin has no header of its own; SwiftPM wants this folder.
