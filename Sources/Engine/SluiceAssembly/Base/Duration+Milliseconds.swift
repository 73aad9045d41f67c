extension Duration {
  package var milliseconds: Int { Int(self / .milliseconds(1)) }
}
