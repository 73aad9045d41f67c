// Empty: the plugin has no header, but SwiftPM needs this folder.
