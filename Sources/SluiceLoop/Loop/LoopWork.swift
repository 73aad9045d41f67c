/// Something that a loop is to run once.
enum LoopWork {
  case call(@Sendable () -> Void)
  case job(UnownedJob)
}
