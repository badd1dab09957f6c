/*
 * The way to a PostgreSQL server: what clients send arrives later by a delay, so that each round trip takes that much
 * longer. It counts round trips: a client that sends after the server has said something. In C, because it shares the
 * processor with what is measured. wire.ts compiles and starts it:
 *   wire LISTENING-SOCKET SOCKET-OF-THE-SERVER DELAY-IN-MICROSECONDS
 * It says "ready", and the count for each byte on its standard input, at whose end it ends.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 512
#define EVENTS_MAX 64

struct chunk {
  struct chunk *next;
  int64_t due; /* Nanoseconds of the monotonic clock. */
  size_t length, sent;
  char bytes[];
};

/* One of the two sockets of a connection, and what is still to be written to it. */
struct end {
  int fd;
  bool stuck; /* It takes no more bytes now. */
  struct end *other;
  struct pair *pair;
  struct chunk *first, **last;
};

struct pair {
  bool used, ended, answered;
  struct end client, server;
};

static struct pair pairs[PAIRS_MAX];
static int pairs_top; /* One more than the highest place in use. */
static int epoll;
static int64_t delay;
static uint64_t round_trips;
static char input[1 << 18];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void watch(int operation, int fd, uint32_t events, void *of) {
  struct epoll_event event = {.events = events, .data.ptr = of};
  if (epoll_ctl(epoll, operation, fd, &event) != 0) err(1, "epoll_ctl");
}

static void set_stuck(struct end *end, bool stuck) {
  if (end->stuck == stuck) return;
  end->stuck = stuck;
  watch(EPOLL_CTL_MOD, end->fd, stuck ? EPOLLIN | EPOLLOUT : EPOLLIN, end);
}

/* Write what is due. */
static void flush(struct end *end, int64_t time) {
  while (end->first != NULL && end->first->due <= time) {
    struct chunk *chunk = end->first;
    ssize_t sent = send(end->fd, chunk->bytes + chunk->sent, chunk->length - chunk->sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EAGAIN) set_stuck(end, true);
      else end->pair->ended = true;
      return;
    }
    chunk->sent += (size_t)sent;
    if (chunk->sent < chunk->length) continue;
    end->first = chunk->next;
    if (end->first == NULL) end->last = &end->first;
    free(chunk);
  }
  set_stuck(end, false);
}

/* Read what an end says, and give it to the other one. */
static void take(struct end *end, int64_t time) {
  struct pair *pair = end->pair;
  bool from_client = end == &pair->client;
  ssize_t length = recv(end->fd, input, sizeof(input), MSG_DONTWAIT);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0) {
    pair->ended = true;
    return;
  }
  if (from_client && pair->answered) round_trips++;
  pair->answered = !from_client;
  struct chunk *chunk = malloc(sizeof(*chunk) + (size_t)length);
  if (chunk == NULL) err(1, "malloc");
  chunk->next = NULL;
  chunk->due = from_client ? time + delay : time;
  chunk->length = (size_t)length;
  chunk->sent = 0;
  memcpy(chunk->bytes, input, (size_t)length);
  *end->other->last = chunk;
  end->other->last = &chunk->next;
  flush(end->other, time);
}

static struct sockaddr_un address_of(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof(address.sun_path)) errx(1, "%s: too long for a socket", path);
  strcpy(address.sun_path, path);
  return address;
}

static void begin(struct end *end, struct end *other, struct pair *pair, int fd) {
  *end = (struct end){.fd = fd, .other = other, .pair = pair, .last = &end->first};
  watch(EPOLL_CTL_ADD, fd, EPOLLIN, end);
}

static void accept_client(int listener, const struct sockaddr_un *server) {
  int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (client < 0) return;
  int place = 0;
  while (place < PAIRS_MAX && pairs[place].used) place++;
  int inner = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (place == PAIRS_MAX || inner < 0 ||
      connect(inner, (const struct sockaddr *)server, sizeof(*server)) != 0) {
    close(client);
    if (inner >= 0) close(inner);
    return;
  }
  struct pair *pair = &pairs[place];
  if (place >= pairs_top) pairs_top = place + 1;
  *pair = (struct pair){.used = true, .answered = true};
  begin(&pair->client, &pair->server, pair, client);
  begin(&pair->server, &pair->client, pair, inner);
}

static void finish(struct end *end) {
  close(end->fd);
  while (end->first != NULL) {
    struct chunk *chunk = end->first;
    end->first = chunk->next;
    free(chunk);
  }
}

/* Write what has become due. Returns the nanoseconds until the next bytes are, or -1. */
static int64_t write_due(void) {
  int64_t time = now(), next = -1;
  for (int at = 0; at < pairs_top; at++) {
    struct pair *pair = &pairs[at];
    if (!pair->used) continue;
    if (!pair->ended && !pair->server.stuck) flush(&pair->server, time);
    if (pair->ended) {
      finish(&pair->client);
      finish(&pair->server);
      pair->used = false;
      continue;
    }
    const struct chunk *first = pair->server.first;
    if (first == NULL || pair->server.stuck) continue;
    if (next < 0 || first->due - time < next) next = first->due - time;
  }
  return next;
}

int main(int count, char **arguments) {
  if (count != 4) errx(2, "usage: wire LISTENING-SOCKET SOCKET-OF-THE-SERVER DELAY-IN-MICROSECONDS");
  const struct sockaddr_un own = address_of(arguments[1]), server = address_of(arguments[2]);
  delay = strtoll(arguments[3], NULL, 10) * 1000;
  /* A timer of the kernel may come 50 microseconds late otherwise. */
  prctl(PR_SET_TIMERSLACK, 1);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (bind(listener, (const struct sockaddr *)&own, sizeof(own)) != 0) err(1, "bind");
  /* A standby that comes this way runs as another user. */
  if (chmod(own.sun_path, 0777) != 0 || listen(listener, PAIRS_MAX) != 0) err(1, "listen");
  watch(EPOLL_CTL_ADD, listener, EPOLLIN, &listener);
  watch(EPOLL_CTL_ADD, STDIN_FILENO, EPOLLIN, NULL);
  puts("ready");
  fflush(stdout);
  for (;;) {
    int64_t wait = write_due();
    struct timespec until = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
    struct epoll_event events[EVENTS_MAX];
    int told = epoll_pwait2(epoll, events, EVENTS_MAX, wait < 0 ? NULL : &until, NULL);
    if (told < 0 && errno != EINTR) err(1, "epoll_pwait2");
    int64_t time = now();
    for (int at = 0; at < told; at++) {
      void *of = events[at].data.ptr;
      if (of == NULL) {
        char byte;
        if (read(STDIN_FILENO, &byte, 1) != 1) return 0;
        printf("%" PRIu64 "\n", round_trips);
        fflush(stdout);
      } else if (of == &listener) {
        accept_client(listener, &server);
      } else {
        struct end *end = of;
        if (end->pair->ended) continue;
        if (events[at].events & EPOLLOUT) flush(end, time);
        if (events[at].events & ~(uint32_t)EPOLLOUT) take(end, time);
      }
    }
  }
}
