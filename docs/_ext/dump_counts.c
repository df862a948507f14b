// Lets a process that ends by _exit() write its gcov counts; see measure_coverage.py.
// gcov writes when a program ends by itself. Forks and worker processes do not: ranks,
// loaders of data, whatever `multiprocessing` starts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef IN_LIBRARY  // linked into each library that counts, which has its own gcov
extern void __gcov_dump(void);

__attribute__((constructor)) static void register_counts(void) {
  void (*add)(void (*)(void)) = dlsym(RTLD_DEFAULT, "dump_counts_at_exit");
  if (add) {
    add(__gcov_dump);
  }
}
#else  // in LD_PRELOAD of each process
static void (*dumps[64])(void);
static int count;

void dump_counts_at_exit(void (*dump)(void)) {
  if (count < 64) {
    dumps[count++] = dump;
  }
}

void _exit(int status) {
  for (int i = 0; i < count; ++i) {
    dumps[i]();
  }
  for (;;) {
    syscall(SYS_exit_group, status);
  }
}
#endif
