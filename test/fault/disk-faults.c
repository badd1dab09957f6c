/*
 * A preloaded library that makes the disk fail: the n-th call of a process that changes a file below a directory ends
 * with an error. Calls are caught by a system call filter (seccomp), so that none is missed: the runtime makes some of
 * them without the C library. disk-device.ts compiles it and shares the block below with it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Shared with the test, which reads it by offsets. */
struct control {
  int64_t armed;
  int64_t error;
  int64_t first;   /* The number of the first call that fails, and of the last one. */
  int64_t last;
  int64_t counted; /* Calls since the test set it to 0. */
  int64_t failed;
  char match[256]; /* Only calls with this in their text: "fsync /path/file$". Empty: all. */
  char below[256]; /* Only files below this directory. */
  char told[256];  /* The first call that failed. */
  int64_t logs;    /* Failed calls on the log of a database. */
  int64_t sync_ms; /* Each sync takes so much longer. */
};

static struct control *control;

#if defined(__x86_64__)
#define ARCHITECTURE 0xc000003e
#define REGISTER(context, at) ((context)->uc_mcontext.gregs[registers[at]])
static const int registers[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARCHITECTURE 0xc00000b7
#define REGISTER(context, at) ((context)->uc_mcontext.regs[at])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#else
#error "only x86-64 and arm64 are known here"
#endif

/* The one place of the process whose calls the filter lets through. */
long disk_call(long number, long a, long b, long c, long d, long e, long f);
extern char disk_call_start[], disk_call_end[];
#if defined(__x86_64__)
__asm__(
    ".text\n.globl disk_call\n.hidden disk_call\n"
    ".globl disk_call_start\n.hidden disk_call_start\n.globl disk_call_end\n.hidden disk_call_end\n"
    "disk_call:\ndisk_call_start:\n"
    "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\n"
    "mov %r8, %r10\nmov %r9, %r8\nmov 8(%rsp), %r9\nsyscall\nret\n"
    "disk_call_end:\n");
#else
__asm__(
    ".text\n.globl disk_call\n.hidden disk_call\n"
    ".globl disk_call_start\n.hidden disk_call_start\n.globl disk_call_end\n.hidden disk_call_end\n"
    "disk_call:\ndisk_call_start:\n"
    "mov x8, x0\nmov x0, x1\nmov x1, x2\nmov x2, x3\nmov x3, x4\nmov x4, x5\nmov x5, x6\n"
    "svc #0\nret\n"
    "disk_call_end:\n");
#endif

/* The calls that count: where their file is, an open one or a path, and where its length, if they bring bytes. */
struct rule {
  int number;
  const char *name;
  int file;
  int path;
  int length;
};

static const struct rule rules[] = {
    {SYS_write, "write", 0, -1, 2},
    {SYS_pwrite64, "pwrite", 0, -1, 2},
    {SYS_writev, "writev", 0, -1, -1},
    {SYS_pwritev, "pwritev", 0, -1, -1},
    {SYS_copy_file_range, "copy_file_range", 2, -1, -1},
    {SYS_sendfile, "sendfile", 0, -1, -1},
    {SYS_fallocate, "fallocate", 0, -1, -1},
    {SYS_ftruncate, "ftruncate", 0, -1, -1},
    {SYS_fsync, "fsync", 0, -1, -1},
    {SYS_fdatasync, "fdatasync", 0, -1, -1},
#ifdef SYS_rename
    {SYS_rename, "rename", -1, 1, -1},
    {SYS_link, "link", -1, 1, -1},
    {SYS_mkdir, "mkdir", -1, 0, -1},
    {SYS_open, "create", -1, 0, -1},
#endif
    {SYS_renameat2, "rename", -1, 3, -1},
    {SYS_renameat, "rename", -1, 3, -1},
    {SYS_linkat, "link", -1, 3, -1},
    {SYS_mkdirat, "mkdir", -1, 1, -1},
    {SYS_openat, "create", -1, 1, -1},
};
enum { RULES = sizeof rules / sizeof *rules };

static const char *pathOf(const struct rule *rule, const long *arguments, char *space, size_t size) {
  if (rule->path >= 0) return (const char *)arguments[rule->path];
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%ld", arguments[rule->file]);
  ssize_t length = readlink(link, space, size - 1);
  if (length < 0) return "";
  space[length] = 0;
  return space;
}

static int concerned(const struct rule *rule, const long *arguments, const char *path) {
  if (rule->number == SYS_openat && !(arguments[2] & O_CREAT)) return 0;
#ifdef SYS_open
  if (rule->number == SYS_open && !(arguments[1] & O_CREAT)) return 0;
#endif
  if (strncmp(path, control->below, strlen(control->below)) != 0) return 0;
  char ended[4200];
  snprintf(ended, sizeof ended, "%s %s$", rule->name, path);
  return strstr(ended, control->match) != NULL;
}

static long answer(const struct rule *rule, const long *a) {
  if (rule->number == SYS_fsync || rule->number == SYS_fdatasync) {
    struct timespec delay = {.tv_nsec = control->sync_ms * 1000000};
    nanosleep(&delay, NULL);
  }
  char space[4096];
  const char *path = control->armed ? pathOf(rule, a, space, sizeof space) : "";
  if (!control->armed || !concerned(rule, a, path))
    return disk_call(rule->number, a[0], a[1], a[2], a[3], a[4], a[5]);
  int64_t number = __atomic_add_fetch(&control->counted, 1, __ATOMIC_SEQ_CST);
  if (number < control->first || number > control->last)
    return disk_call(rule->number, a[0], a[1], a[2], a[3], a[4], a[5]);
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, "-wal") == 0)
    __atomic_add_fetch(&control->logs, 1, __ATOMIC_SEQ_CST);
  if (number == control->first) snprintf(control->told, sizeof control->told, "%s %.200s", rule->name, path);
  /* A disk that gets full takes a part first. */
  int part = control->error == ENOSPC && number == control->first && rule->length >= 0;
  if (part && a[rule->length] > 1)
    return disk_call(rule->number, a[0], a[1], a[2] / 2, a[3], a[4], a[5]);
  /* The second call of a fault is for the rest of that write. Behind a sync it would be one whose failure may be ignored. */
  if (number == control->first && control->last == number + 1) control->last = number;
  return -control->error;
}

static void caught(int signal, siginfo_t *info, void *raw) {
  (void)signal;
  ucontext_t *context = raw;
  int saved = errno;
  long arguments[6];
  for (int at = 0; at < 6; at++) arguments[at] = REGISTER(context, at);
  for (int at = 0; at < RULES; at++)
    if (rules[at].number == info->si_syscall) {
      RESULT(context) = answer(&rules[at], arguments);
      break;
    }
  errno = saved;
}

/* Allow what disk_call makes, and trap the calls of the table. */
static void filter(void) {
  uint64_t start = (uint64_t)disk_call_start;
  struct sock_filter program[RULES + 8];
  int at = 0;
#define ADD(...) program[at++] = (struct sock_filter)__VA_ARGS__
  ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4));
  ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(start >> 32), 0, 4));
  ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)));
  ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)start, 0, 2));
  ADD(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(uint64_t)disk_call_end, 1, 0));
  ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  for (int rule = 0; rule < RULES; rule++)
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rules[rule].number, RULES - rule, 0));
  struct sock_filter end[] = {
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  struct sock_filter whole[RULES + 10];
  memcpy(whole, program, (size_t)at * sizeof *program);
  memcpy(whole + at, end, sizeof end);
  struct sock_fprog installed = {.len = (unsigned short)(at + 2), .filter = whole};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &installed) != 0) {
    perror("disk-faults: seccomp");
    _exit(70);
  }
}

typedef int (*set_action)(int, const struct sigaction *, struct sigaction *);

/* The runtime has a handler for SIGSYS, too. Ours stays. */
int sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
  if (signal == SIGSYS && control != NULL) return 0;
  return ((set_action)dlsym(RTLD_NEXT, "sigaction"))(signal, action, before);
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_FAULTS");
  if (path == NULL) return;
  int file = open(path, O_RDWR | O_CLOEXEC);
  void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || shared == MAP_FAILED) {
    perror("disk-faults: control block");
    _exit(70);
  }
  close(file);
  struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
  sigaction(SIGSYS, &action, NULL);
  control = shared;
  filter();
}
