/* Preloaded, it lets every sync take 2 ms longer: a slower disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

static const useconds_t EXTRA = 2000;

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  usleep(EXTRA);
  return real(file);
}

int fdatasync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  usleep(EXTRA);
  return real(file);
}
