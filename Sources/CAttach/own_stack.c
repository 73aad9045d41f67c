#define _GNU_SOURCE
#include "own_stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/// The room that a call of the host needs if it runs a stage in Swift, with a margin: 48 KiB were enough in tests.
enum { ROOM_BYTES = 64 << 10 };
/// The size of a reserved stack. Memory is used only where a call touches it.
enum { STACK_BYTES = 1 << 20 };

/// The bounds of the thread's stack. `lowest` is 0 before the system was asked, and 1 if the system did not report the
/// bounds.
static _Thread_local uintptr_t lowest, highest;
/// The reserved stack; NULL if there is none.
static _Thread_local char *reserved;
static _Thread_local bool is_on_reserved;
/// A stack that no thread uses.
static _Atomic(char *) spare;

static void read_bounds(void) {
  pthread_attr_t attributes;
  void *address = NULL;
  size_t size = 0;
  lowest = 1;
  highest = UINTPTR_MAX;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
    lowest = (uintptr_t)address;
    highest = lowest + size;
  }
  pthread_attr_destroy(&attributes);
}

/// Whether the current stack certainly has enough room. Asks the system once for each thread.
///
/// Outside of the bounds that the system reports, this is the stack of a coroutine. Its mapping would tell nothing: it
/// may contain other data, or several stacks.
static bool has_room(void) {
  if (lowest == 0) read_bounds();
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here >= lowest && here <= highest && here - lowest >= ROOM_BYTES;
}

/// The lowest page of a stack cannot be accessed, so that a call that needs still more room ends the program instead of
/// changing its memory.
static char *make(void) {
  char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return NULL;
  mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
  return stack;
}

bool own_stack_reserve(void) {
  if (reserved || has_room()) return true;
  const int kept = errno;
  reserved = atomic_exchange(&spare, NULL);
  if (!reserved) reserved = make();
  errno = kept;
  return reserved;
}

void own_stack_release(void) {
  if (!reserved || is_on_reserved) return;
  char *none = NULL;
  if (!atomic_compare_exchange_strong(&spare, &none, reserved)) munmap(reserved, STACK_BYTES);
  reserved = NULL;
}

/// Calls a function with the stack pointer at `top`. It is in assembler because no C compiler knows the current stack
/// pointer at each of its instructions.
void sluice_attach_call_at(char *top, void (*function)(void *), void *context);

__asm__(
    ".text\n"
    ".hidden sluice_attach_call_at\n"
    ".globl sluice_attach_call_at\n"
    ".type sluice_attach_call_at, %function\n"
    "sluice_attach_call_at:\n"
    ".cfi_startproc\n"
#if defined(__x86_64__)
    "pushq %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "movq %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "movq %rdi, %rsp\n"
    "movq %rdx, %rdi\n"
    "callq *%rsi\n"
    "movq %rbp, %rsp\n"
    "popq %rbp\n"
    ".cfi_def_cfa %rsp, 8\n"
#elif defined(__aarch64__)
    "stp x29, x30, [sp, #-16]!\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset x29, -16\n"
    ".cfi_offset x30, -8\n"
    "mov x29, sp\n"
    ".cfi_def_cfa_register x29\n"
    "mov sp, x0\n"
    "mov x0, x2\n"
    "blr x1\n"
    "mov sp, x29\n"
    "ldp x29, x30, [sp], #16\n"
    ".cfi_def_cfa sp, 0\n"
#else
#error "write a call on another stack for this machine"
#endif
    "ret\n"
    ".cfi_endproc\n"
    ".size sluice_attach_call_at, . - sluice_attach_call_at\n");

void own_stack_call(void (*function)(void *), void *context) {
  if (!reserved || is_on_reserved) return function(context);
  is_on_reserved = true;
  sluice_attach_call_at(reserved + STACK_BYTES, function, context);
  is_on_reserved = false;
}
