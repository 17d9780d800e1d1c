/* The Prolac TCP as a user program: the BSD calls, on a TUN device.

   prolac_tcp_start comes first. After it every call here is the call of the same name without prolac_, with the kernel's
   results: -1 and errno where that gives -1. The types, constants and structures are the system's own. Descriptors are not
   the kernel's: they are above all of its, and only the calls here know them. Any thread may call. Blocking calls sleep
   without a signal's being able to interrupt them. Writing to a connection that cannot be written raises SIGPIPE, unless
   MSG_NOSIGNAL is given, as in Linux.

   Link with -lprolac_tcp; with libprolac_tcp.a also with -lpthread -ldl -lm. */
#ifndef PROLAC_TCP_H
#define PROLAC_TCP_H
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Begins to work on the TUN device of this name, which is made if there is none. `addresses` are ours, with the lengths of
   the prefixes in which this machine is too, separated by commas: "10.9.0.2/24,fd00:9::2/64". A device without an address
   gets the first free one of the prefix. Needs CAP_NET_ADMIN. EBUSY if it works already, EINVAL for a wrong address. */
int prolac_tcp_start(const char *device, const char *addresses);
/* Closes every descriptor and ends the work when what was written is acknowledged, or after some seconds. */
int prolac_tcp_stop(void);
/* Why prolac_tcp_start failed, in words; until the next call of it. Never NULL. */
const char *prolac_tcp_error(void);

int prolac_socket(int domain, int type, int protocol);
int prolac_bind(int fd, const struct sockaddr *address, socklen_t length);
int prolac_listen(int fd, int backlog);
int prolac_accept(int fd, struct sockaddr *address, socklen_t *length);
int prolac_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int prolac_connect(int fd, const struct sockaddr *address, socklen_t length);
int prolac_getsockname(int fd, struct sockaddr *address, socklen_t *length);
int prolac_getpeername(int fd, struct sockaddr *address, socklen_t *length);

ssize_t prolac_read(int fd, void *buffer, size_t length);
ssize_t prolac_write(int fd, const void *data, size_t length);
ssize_t prolac_readv(int fd, const struct iovec *buffers, int count);
ssize_t prolac_writev(int fd, const struct iovec *data, int count);
ssize_t prolac_recv(int fd, void *buffer, size_t length, int flags);
ssize_t prolac_send(int fd, const void *data, size_t length, int flags);
ssize_t prolac_recvfrom(int fd, void *buffer, size_t length, int flags, struct sockaddr *address, socklen_t *address_length);
ssize_t prolac_sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *address,
                      socklen_t address_length);

int prolac_shutdown(int fd, int how);
int prolac_close(int fd);

/* Descriptors of these calls only. */
int prolac_poll(struct pollfd *fds, nfds_t count, int timeout);
/* F_GETFL, F_SETFL, F_GETFD, F_SETFD; the argument is 0 for those that have none. */
int prolac_fcntl(int fd, int command, long argument);
/* FIONBIO, SIOCINQ (FIONREAD), SIOCOUTQ (TIOCOUTQ), SIOCOUTQNSD, SIOCATMARK. */
int prolac_ioctl(int fd, unsigned long request, int *argument);
int prolac_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int prolac_setsockopt(int fd, int level, int name, const void *value, socklen_t length);

#ifdef __cplusplus
}
#endif
#endif
