// A plug-in of an older version, libfeedrate_old.so, which starts a thread when it is loaded, as OpenBLAS
// does.
#include <pthread.h>
#include <signal.h>

int signals_of_its_thread = -1;  // that it takes, of SIGTERM and SIGUSR1

static void* look(void* unused) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  signals_of_its_thread = !sigismember(&blocked, SIGTERM) + !sigismember(&blocked, SIGUSR1);
  return unused;
}

__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, look, NULL) == 0) pthread_join(thread, NULL);
}

const char* feedrate_backend_abi(void) { return "0.0.1 gcc 9.4.0 plan 8"; }
const void* feedrate_backend(void) { return NULL; }
