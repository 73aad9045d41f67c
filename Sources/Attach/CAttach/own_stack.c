#define _GNU_SOURCE
#include "own_stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/// The least room for a call on the thread's own stack. Half of it is left free (see `gap_in`). The other half is
/// enough: loading the host took 86 KiB in tests, and a call with a stage in Swift 48 KiB.
enum { LEAST_ROOM_BYTES = 256 << 10 };
/// The most that is left free on a thread's own stack below the part that is in use. Valgrind takes a step of 2 MB for a
/// change to another stack.
enum { LARGEST_GAP_BYTES = 1 << 20 };
/// The size of a reserved stack. Memory is used only where a call touches it.
enum { STACK_BYTES = 1 << 20 };

/// The bounds of the thread's stack. `lowest` is 0 before the system was asked, and 1 if the system did not report the
/// bounds.
static _Thread_local uintptr_t lowest, highest;
/// The reserved stack, or NULL.
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

/// The bytes between this function's frame and the lower end of the thread's stack; 0 if this is another stack. Asks the
/// system once for each thread.
///
/// Outside of the bounds that the system reports, this is the stack of a coroutine. Its mapping would tell nothing: it
/// may contain other data, or several stacks.
static size_t room(void) {
  if (lowest == 0) read_bounds();
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here >= lowest && here <= highest ? here - lowest : 0;
}

/// How many bytes to leave free below the current frame, if the thread's own stack has so much room.
///
/// The stack of a coroutine can also lie inside a thread's own stack, in an array of a function. Such a stack cannot be
/// recognized. What lies below it is in use: the rest of that function's frame, and perhaps further stacks.
static size_t gap_in(size_t room) { return room / 2 < LARGEST_GAP_BYTES ? room / 2 : LARGEST_GAP_BYTES; }

/// The lowest page of a stack cannot be accessed, so that a call that needs still more room ends the program instead of
/// changing its memory.
static char *make(void) {
  char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return NULL;
  mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
  return stack;
}

bool own_stack_reserve(void) {
  if (reserved || room() >= LEAST_ROOM_BYTES) return true;
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
  if (is_on_reserved) return function(context);
  if (reserved) {
    is_on_reserved = true;
    sluice_attach_call_at(reserved + STACK_BYTES, function, context);
    is_on_reserved = false;
    return;
  }
  const size_t left = room();
  if (left < LEAST_ROOM_BYTES) return function(context);
  // Both parts are multiples of 16, as the stack pointer must be.
  sluice_attach_call_at((char *)__builtin_frame_address(0) - gap_in(left) / 16 * 16, function, context);
}
