/* The same calls, made to the kernel and to the Prolac TCP, must have the same results and the same errno: calls
   DEVICE OUR-ADDRESS/PREFIX. Each scenario runs twice, once with the kernel's calls and the Prolac TCP as the peer, once
   the other way round, and writes a log of results. The logs must be equal. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include "prolac_tcp.h"


struct calls {
  const char *name, *address;
  int (*socket)(int, int, int);
  int (*bind)(int, const struct sockaddr *, socklen_t);
  int (*listen)(int, int);
  int (*accept4)(int, struct sockaddr *, socklen_t *, int);
  int (*connect)(int, const struct sockaddr *, socklen_t);
  int (*getsockname)(int, struct sockaddr *, socklen_t *);
  int (*getpeername)(int, struct sockaddr *, socklen_t *);
  ssize_t (*read)(int, void *, size_t);
  ssize_t (*write)(int, const void *, size_t);
  ssize_t (*readv)(int, const struct iovec *, int);
  ssize_t (*writev)(int, const struct iovec *, int);
  ssize_t (*recv)(int, void *, size_t, int);
  ssize_t (*send)(int, const void *, size_t, int);
  ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
  ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  int (*shutdown)(int, int);
  int (*close)(int);
  int (*poll)(struct pollfd *, nfds_t, int);
  int (*fcntl)(int, int, long);
  int (*ioctl)(int, unsigned long, int *);
  int (*getsockopt)(int, int, int, void *, socklen_t *);
  int (*setsockopt)(int, int, int, const void *, socklen_t);
};

static int kernel_fcntl(int fd, int command, long argument) { return fcntl(fd, command, argument); }
static int kernel_ioctl(int fd, unsigned long request, int *argument) { return ioctl(fd, request, argument); }

static const struct calls KERNEL = {"the kernel", "10.9.0.1", socket, bind, listen, accept4, connect,
    (int (*)(int, struct sockaddr *, socklen_t *))getsockname, (int (*)(int, struct sockaddr *, socklen_t *))getpeername,
    read, write, readv, writev, recv, send, (ssize_t (*)(int, void *, size_t, int, struct sockaddr *, socklen_t *))recvfrom,
    sendto, shutdown, close, poll, kernel_fcntl, kernel_ioctl, getsockopt, setsockopt};
static const struct calls PROLAC = {"the Prolac TCP", "10.9.0.2", prolac_socket, prolac_bind, prolac_listen,
    prolac_accept4, prolac_connect, prolac_getsockname, prolac_getpeername, prolac_read, prolac_write, prolac_readv,
    prolac_writev, prolac_recv, prolac_send, prolac_recvfrom, prolac_sendto, prolac_shutdown, prolac_close, prolac_poll,
    prolac_fcntl, prolac_ioctl, prolac_getsockopt, prolac_setsockopt};

/* The log of the run. */
static char *record;
static size_t recorded;

static void note(const char *format, ...) {
  va_list values;
  va_start(values, format);
  recorded += vsnprintf(record + recorded, 65536 - recorded, format, values);
  va_end(values);
}

/* Notes a call, its result, and errno if it failed. */
#define NOTE(call) (errno = 0, note_result(#call, (long)(call)))
static long note_result(const char *call, long result) {
  const char *name = strchr(call, '>') ? strchr(call, '>') + 1 : call;
  note(result < 0 ? "%s = %ld %s\n" : "%s = %ld\n", name, result, strerror(errno));
  return result;
}

static struct sockaddr_in at(const char *address, int port) {
  struct sockaddr_in result = {.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, address, &result.sin_addr);
  return result;
}

static const struct calls *us, *peer;

static int stream(const struct calls *who) { return who->socket(AF_INET, SOCK_STREAM, 0); }

static int listener(const struct calls *who, int port) {
  struct sockaddr_in address = at(who->address, port);
  int one = 1, fd = stream(who);
  who->setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (who->bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || who->listen(fd, 5) < 0) {
    fprintf(stderr, "%s cannot listen: %s\n", who->name, strerror(errno));
    exit(1);
  }
  return fd;
}

static int connect_to(int fd, const char *address, int port) {
  struct sockaddr_in where = at(address, port);
  return us->connect(fd, (struct sockaddr *)&where, sizeof where);
}

/* Waits for events, at most 5 seconds. */
static int await(const struct calls *who, int fd, int events) {
  struct pollfd one = {fd, events, 0};
  return who->poll(&one, 1, 5000) == 1 ? one.revents : -1;
}

/* A connection; gives our end, and the peer's in `other`. */
static int connection(int *other) {
  int where = listener(peer, 80), fd = stream(us);
  NOTE(connect_to(fd, peer->address, 80));
  *other = peer->accept4(where, NULL, NULL, 0);
  peer->close(where);
  return fd;
}

static void unconnected(void) {
  char text[10];
  struct sockaddr_in address = at("10.77.0.1", 99), own = at(us->address, 4000);
  socklen_t length = sizeof address;
  int fd = NOTE(us->socket(AF_INET, SOCK_STREAM, 0)) >= 0 ? stream(us) : -1;
  recorded = 0; /* numbers of descriptors differ */
  NOTE(us->socket(99, SOCK_STREAM, 0));
  NOTE(us->socket(AF_INET, SOCK_STREAM, 17));
  NOTE(us->socket(AF_INET, 77, 0));
  NOTE(us->bind(fd, (struct sockaddr *)&address, sizeof address));
  NOTE(us->bind(fd, (struct sockaddr *)&address, 3));
  NOTE(us->read(fd, text, sizeof text));
  NOTE(us->send(fd, text, sizeof text, MSG_NOSIGNAL));
  NOTE(us->getpeername(fd, (struct sockaddr *)&address, &length));
  NOTE(us->shutdown(fd, SHUT_WR));
  NOTE(us->shutdown(fd, 7));
  NOTE(us->accept4(fd, NULL, NULL, 0));
  NOTE(us->accept4(fd, NULL, NULL, 12345));
  NOTE(us->bind(fd, (struct sockaddr *)&own, sizeof own));
  NOTE(us->bind(fd, (struct sockaddr *)&own, sizeof own));
  NOTE(us->getsockname(fd, (struct sockaddr *)&address, &length));
  note("%d %d\n", (int)length, ntohs(address.sin_port));
  NOTE(us->read(-1, text, sizeof text));
  NOTE(us->close(-1));
  NOTE(us->listen(-1, 5));
  NOTE(connect_to(-1, peer->address, 80));
  NOTE(us->close(fd));
  NOTE(us->close(fd));
  fd = stream(us);
  NOTE(connect_to(fd, peer->address, 81));
  NOTE(us->send(fd, text, 1, MSG_NOSIGNAL));
  note("%x\n", await(us, fd, POLLIN | POLLOUT));
  us->close(fd);
}

static void without_waiting(void) {
  int where, fd, other, value = 0, one = 1;
  socklen_t length = sizeof value;
  struct timeval soon = {0, 30000};
  char text[10];
  where = listener(us, 82);
  NOTE(us->fcntl(where, F_SETFL, O_NONBLOCK));
  NOTE(us->fcntl(where, F_GETFL, 0) & O_NONBLOCK);
  NOTE(us->accept4(where, NULL, NULL, 0));
  us->close(where);
  where = listener(peer, 83);
  fd = us->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  NOTE(connect_to(fd, peer->address, 83));
  note("%x\n", await(us, fd, POLLOUT));
  NOTE(us->getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &length));
  note("%d %d\n", value, (int)length);
  other = peer->accept4(where, NULL, NULL, 0);
  peer->close(where);
  NOTE(connect_to(fd, peer->address, 83));
  NOTE(us->read(fd, text, sizeof text));
  NOTE(us->recv(fd, text, sizeof text, MSG_DONTWAIT));
  value = 0;
  NOTE(us->ioctl(fd, FIONBIO, &value));
  NOTE(us->setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon));
  NOTE(us->read(fd, text, sizeof text));
  NOTE(us->ioctl(fd, FIONBIO, &one));
  NOTE(us->ioctl(fd, 0x5415, &one));
  us->close(fd);
  peer->close(other);
}

static void text_and_ends(void) {
  int other, value = -1, fd = connection(&other);
  char text[100] = "0123456789", more[10];
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  struct iovec pieces[2] = {{text, 4}, {more, 4}};
  NOTE(us->getpeername(fd, (struct sockaddr *)&address, &length));
  note("%d %d\n", (int)length, ntohs(address.sin_port));
  length = 4;
  NOTE(us->getsockname(fd, (struct sockaddr *)&address, &length));
  note("%d\n", (int)length);
  peer->write(other, "some text", 9);
  await(us, fd, POLLIN); /* by now it has come */
  note("%x\n", await(us, fd, POLLIN | POLLOUT | POLLPRI));
  NOTE(us->ioctl(fd, SIOCINQ, &value));
  note("%d\n", value);
  NOTE(us->recv(fd, text, 4, MSG_PEEK));
  NOTE(us->readv(fd, pieces, 2));
  note("%.4s%.4s\n", text, more);
  NOTE(us->readv(fd, pieces, -1));
  length = sizeof address;
  NOTE(us->recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&address, &length));
  note("%d\n", (int)length);
  NOTE(us->writev(fd, pieces, 2));
  NOTE(us->sendto(fd, text, 3, 0, NULL, 0));
  NOTE(us->write(fd, NULL, 0));
  NOTE(us->read(fd, text, 0));
  NOTE(peer->recv(other, text, 11, MSG_WAITALL));
  while (us->ioctl(fd, SIOCOUTQ, &value) == 0 && value > 0)
    usleep(1000);
  note("%d\n", value);
  NOTE(us->shutdown(fd, SHUT_WR));
  NOTE(us->send(fd, text, 1, MSG_NOSIGNAL));
  NOTE(peer->read(other, text, 5));
  peer->write(other, "end", 3);
  peer->shutdown(other, SHUT_WR);
  NOTE(us->recv(fd, text, 10, MSG_WAITALL));
  NOTE(us->read(fd, text, 10));
  note("%x\n", await(us, fd, POLLIN | POLLOUT | POLLRDHUP));
  NOTE(us->close(fd));
  peer->close(other);
}

static void resets(void) {
  struct linger now = {1, 0};
  char text[10] = "x";
  int other, fd = connection(&other);
  peer->setsockopt(other, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  peer->close(other);
  await(us, fd, POLLIN); /* by now it has come */
  note("%x\n", await(us, fd, POLLIN | POLLOUT));
  NOTE(us->read(fd, text, 1));
  NOTE(us->read(fd, text, 1));
  NOTE(us->send(fd, text, 1, MSG_NOSIGNAL));
  NOTE(us->shutdown(fd, SHUT_RDWR));
  us->close(fd);
  fd = connection(&other);
  NOTE(us->setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now));
  NOTE(us->close(fd));
  NOTE(peer->read(other, text, 1));
  peer->close(other);
}

static void option(int fd, const char *name, int level, int number, int value) {
  int got = -1;
  socklen_t length = sizeof got;
  note("%s: %d", name, us->setsockopt(fd, level, number, &value, sizeof value) < 0 ? -errno : 0);
  note(" %d", us->getsockopt(fd, level, number, &got, &length) < 0 ? -errno : 0);
  note(" %d %d\n", got, (int)length);
}
#define OPTION(level, number, value) option(fd, #number " " #value, level, number, value)

static void options(void) {
  int other, fd = stream(us), i;
  struct tcp_info info;
  socklen_t length = sizeof info;
  for (i = 0; i < 2; i++) {
    OPTION(SOL_SOCKET, SO_REUSEADDR, 1);
    OPTION(SOL_SOCKET, SO_KEEPALIVE, 1);
    OPTION(SOL_SOCKET, SO_SNDBUF, 20000);
    OPTION(SOL_SOCKET, SO_RCVBUF, 20000);
    OPTION(SOL_SOCKET, SO_RCVBUF, 1);
    OPTION(SOL_SOCKET, SO_ERROR, 0);
    OPTION(SOL_SOCKET, 7777, 0);
    OPTION(IPPROTO_TCP, TCP_NODELAY, 1);
    OPTION(IPPROTO_TCP, TCP_CORK, 1);
    OPTION(IPPROTO_TCP, TCP_CORK, 0);
    OPTION(IPPROTO_TCP, TCP_MAXSEG, 1000);
    OPTION(IPPROTO_TCP, TCP_MAXSEG, 1);
    OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, 1234);
    OPTION(IPPROTO_TCP, TCP_KEEPIDLE, 100);
    OPTION(IPPROTO_TCP, TCP_KEEPIDLE, 0);
    OPTION(IPPROTO_TCP, TCP_KEEPINTVL, 10);
    OPTION(IPPROTO_TCP, TCP_KEEPCNT, 3);
    OPTION(IPPROTO_TCP, TCP_KEEPCNT, 1000);
    OPTION(IPPROTO_TCP, 7777, 1);
    OPTION(1234, 1, 1);
    if (i == 0) {
      us->close(fd);
      fd = connection(&other);
    }
  }
  NOTE(us->getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length));
  note("%d\n", info.tcpi_state);
  NOTE(us->getsockopt(fd, SOL_SOCKET, SO_ERROR, NULL, NULL));
  us->close(fd);
  peer->close(other);
}

static int compare(const char *name, void (*scenario)(void)) {
  static char logs[2][65536];
  const struct calls *who[2] = {&KERNEL, &PROLAC};
  int i;
  for (i = 0; i < 2; i++) {
    us = who[i], peer = who[1 - i], record = logs[i], recorded = 0;
    scenario();
  }
  if (strcmp(logs[0], logs[1]) == 0)
    return 0;
  printf("%s: the first lines that differ\n", name);
  char *a = logs[0], *b = logs[1];
  while (*a || *b) {
    size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
    if (la != lb || memcmp(a, b, la))
      printf("  kernel: %.*s\n  prolac: %.*s\n", (int)la, a, (int)lb, b);
    a += la + (a[la] == '\n'), b += lb + (b[lb] == '\n');
  }
  return 1;
}

int main(int count, char **words) {
  int wrong = 0;
  if (count != 3 || prolac_tcp_start(words[1], words[2]) < 0) {
    printf("start: %s\n", prolac_tcp_error());
    return 2;
  }
  if (prolac_tcp_start(words[1], words[2]) == 0 || errno != EBUSY)
    return printf("a second start is to fail with EBUSY\n"), 2;
  wrong += compare("unconnected", unconnected);
  wrong += compare("without waiting", without_waiting);
  wrong += compare("text and ends", text_and_ends);
  wrong += compare("resets", resets);
  wrong += compare("options", options);
  if (prolac_tcp_stop() < 0 || prolac_socket(AF_INET, SOCK_STREAM, 0) >= 0)
    return printf("stop\n"), 2;
  puts(wrong ? "wrong" : "the same");
  return wrong;
}
