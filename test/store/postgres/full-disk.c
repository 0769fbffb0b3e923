/*
 * Preloaded, it fills the disk as soon as the file that FULL_DISK names exists: what is there can be overwritten, and no
 * file can grow.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_full(int file, off_t end) {
  const char *mark = getenv("FULL_DISK");
  struct stat found;
  if (mark == NULL || access(mark, F_OK) != 0) return 0;
  return fstat(file, &found) == 0 && S_ISREG(found.st_mode) && end > found.st_size;
}

static ssize_t refuse(void) {
  errno = ENOSPC;
  return -1;
}

ssize_t write(int file, const void *bytes, size_t length) {
  int saved = errno;
  if (is_full(file, lseek(file, 0, SEEK_CUR) + (off_t)length)) return refuse();
  errno = saved;
  return syscall(SYS_write, file, bytes, length);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t from) {
  if (is_full(file, from + (off_t)length)) return refuse();
  return syscall(SYS_pwrite64, file, bytes, length, from);
}

/* Another name of the same call; SQLite uses it. */
ssize_t pwrite64(int file, const void *bytes, size_t length, off_t from) { return pwrite(file, bytes, length, from); }

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t from) {
  off_t end = from;
  for (int n = 0; n < count; n++) end += (off_t)parts[n].iov_len;
  if (is_full(file, end)) return refuse();
  /* The kernel takes the position in two halves. */
  return syscall(SYS_pwritev, file, parts, count, from, 0);
}

int posix_fallocate(int file, off_t from, off_t length) {
  if (is_full(file, from + length)) return ENOSPC;
  return syscall(SYS_fallocate, file, 0, from, length) == 0 ? 0 : errno;
}
