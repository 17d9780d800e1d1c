/* The table as a C program sees it, with the variable arguments of fcntl and ioctl. Argument: the shared object. */
#include <arpa/inet.h>
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct table {
  void *userdata;
  void (*free)(void *);
  int (*socket)(void *, int, int, int);
  int (*bind)(void *, int, const struct sockaddr *, socklen_t);
  int (*listen)(void *, int, int);
  int (*accept)(void *, int, struct sockaddr *, socklen_t *);
  int (*connect)(void *, int, const struct sockaddr *, socklen_t);
  void *reading[5], *writing[5];
  int (*fcntl)(void *, int, int, ...);
  int (*ioctl)(void *, int, unsigned long, ...);
  int (*close)(void *, int);
  int (*shutdown)(void *, int, int);
  int (*getsockopt)(void *, int, int, int, void *, socklen_t *);
  int (*setsockopt)(void *, int, int, int, const void *, socklen_t);
  int (*poll)(void *, struct pollfd *, nfds_t, int);
  int (*netdev_send)(void *, const void *, size_t);
  int (*netdev_receive)(void *, void *, size_t *, long long *);
  int (*usleep)(void *, useconds_t);
  int (*gettimeofday)(void *, struct timeval *, struct timezone *);
  void *others[5];
};

int main(int count, char **arguments) {
  assert(count == 2);
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  assert(library != NULL);
  void (*init)(const char *, struct table *) = dlsym(library, "packetdrill_interface_init");
  assert(init != NULL);
  struct table t;
  memset(&t, 0, sizeof t);
  init("192.168.0.1", &t);
  assert(t.userdata != NULL && t.others[4] != NULL);

  int fd = t.socket(t.userdata, AF_INET, SOCK_STREAM, IPPROTO_TCP);
  assert(fd >= 0);
  assert(t.fcntl(t.userdata, fd, F_GETFL) == O_RDWR);
  assert(t.fcntl(t.userdata, fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
  assert(t.fcntl(t.userdata, fd, F_GETFL) == (O_RDWR | O_NONBLOCK));
  int waiting = -1;
  assert(t.ioctl(t.userdata, fd, FIONREAD, &waiting) == 0 && waiting == 0);

  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(80)};
  peer.sin_addr.s_addr = inet_addr("192.0.2.1");
  assert(t.connect(t.userdata, fd, (struct sockaddr *)&peer, sizeof peer) == -1 && errno == EINPROGRESS);
  unsigned char packet[2000];
  size_t length = sizeof packet;
  long long when = 0;
  assert(t.netdev_receive(t.userdata, packet, &length, &when) == 0 && length == 60);
  struct timeval now;
  assert(t.gettimeofday(t.userdata, &now, NULL) == 0);
  assert(now.tv_sec * 1000000LL + now.tv_usec - when < 1000);

  struct pollfd entry = {.fd = fd, .events = POLLIN | POLLOUT};
  assert(t.poll(t.userdata, &entry, 1, 10) == 0);
  assert(close(fd) == 0); /* as packetdrill does at the end */
  t.free(t.userdata);
  puts("done");
  return 0;
}
