/// The version of the product. The Makefile, the man page and the packages take it from here.
package enum ProductVersion {
  package static let text = "0.1.0"
}
