/* An echo server (RFC 862) for many clients, on the Prolac TCP: echo DEVICE ADDRESS/PREFIX [PORT].

     cargo build --release -p clickwork-prolac-tcp-c
     cc -Iinclude examples/echo.c -L../../target/release -lprolac_tcp -o echo
     sudo LD_LIBRARY_PATH=../../target/release ./echo tcp0 10.9.0.2/24 &
     nc 10.9.0.2 7

   It ends when its standard input does, if that is not a terminal. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "prolac_tcp.h"

enum { CLIENTS = 1000 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int listen_at(int port) {
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any};
  int one = 1, fd = prolac_socket(AF_INET6, SOCK_STREAM, 0);
  prolac_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (prolac_bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || prolac_listen(fd, 128) < 0)
    fail("listen");
  return fd;
}

/* Gives back what a client has sent; false when it has sent all. */
static int echo(int fd) {
  static char text[65536];
  ssize_t length = prolac_read(fd, text, sizeof text);
  return length > 0 && prolac_send(fd, text, length, MSG_NOSIGNAL) == length;
}

int main(int count, char **words) {
  static struct pollfd fds[CLIENTS];
  int used = 1;
  if (count < 3) {
    fprintf(stderr, "usage: echo DEVICE ADDRESS/PREFIX [PORT]\n");
    return 2;
  }
  if (prolac_tcp_start(words[1], words[2]) < 0) {
    fprintf(stderr, "echo: %s\n", prolac_tcp_error());
    return 1;
  }
  fds[0] = (struct pollfd){listen_at(count > 3 ? atoi(words[3]) : 7), POLLIN, 0};
  puts("listening");
  fflush(stdout);
  for (;;) {
    char end;
    if (prolac_poll(fds, used, 200) == 0 && !isatty(0)) {
      struct pollfd input = {0, POLLIN, 0};
      if (poll(&input, 1, 0) > 0 && read(0, &end, 1) == 0)
        break;
    }
    for (int i = used; i-- > 1;) {
      if (fds[i].revents && !echo(fds[i].fd)) {
        prolac_close(fds[i].fd);
        fds[i] = fds[--used];
      }
    }
    if (fds[0].revents & POLLIN) {
      int fd = prolac_accept(fds[0].fd, NULL, NULL);
      if (fd >= 0 && used < CLIENTS)
        fds[used++] = (struct pollfd){fd, POLLIN, 0};
      else if (fd >= 0)
        prolac_close(fd);
    }
  }
  return prolac_tcp_stop() < 0;
}
