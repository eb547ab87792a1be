/* SPDX-License-Identifier: MIT
 *
 * One thread accepts, one thread per connection copies bytes both ways.
 */
#include "tests/support/proxy.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"

enum { BUFFER_BYTES = 65536, CONNECTIONS_MAX = 256 };

struct test_proxy {
    char directory[64];
    char server[128]; /* path of the server's socket */
    int listener;
    pthread_t acceptor;
    pthread_mutex_t mutex; /* guards what follows */
    char text[32];
    int to_lose, lost;
    bool before;
    int clients[CONNECTIONS_MAX];
    pthread_t threads[CONNECTIONS_MAX];
    int n_threads;
};

struct pair {
    struct test_proxy *proxy;
    int client, server;
};

static bool set_address(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
    return n > 0 && (size_t)n < sizeof address->sun_path;
}

static int connect_server(const char *path)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && set_address(&address, path) &&
        connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        return fd;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

/* Copies what is there; false at the end of either side. */
static bool copy(int from, int to, char *buffer, ssize_t *out_n)
{
    *out_n = read(from, buffer, BUFFER_BYTES);
    return *out_n > 0 && (to < 0 || send(to, buffer, (size_t)*out_n, MSG_NOSIGNAL) == *out_n);
}

static bool should_lose(struct test_proxy *proxy, const char *bytes, ssize_t n, bool *out_before)
{
    (void)pthread_mutex_lock(&proxy->mutex);
    bool lose = proxy->to_lose > 0 && memmem(bytes, (size_t)n, proxy->text, strlen(proxy->text));
    proxy->to_lose -= lose;
    proxy->lost += lose;
    *out_before = proxy->before;
    (void)pthread_mutex_unlock(&proxy->mutex);
    return lose;
}

static void serve_pair(struct pair *pair, char *buffer)
{
    struct pollfd fds[2] = {{.fd = pair->client, .events = POLLIN},
                            {.fd = pair->server, .events = POLLIN}};
    while (poll(fds, 2, -1) > 0) {
        ssize_t n = 0;
        if (fds[1].revents && !copy(pair->server, pair->client, buffer, &n)) {
            return;
        }
        if (!fds[0].revents) {
            continue;
        }
        if (!copy(pair->client, -1, buffer, &n)) {
            return;
        }
        bool before = false;
        bool lose = should_lose(pair->proxy, buffer, n, &before);
        if (!(lose && before) && send(pair->server, buffer, (size_t)n, MSG_NOSIGNAL) != n) {
            return;
        }
        if (lose) {
            if (!before) {
                (void)copy(pair->server, -1, buffer, &n); /* it has happened */
            }
            return;
        }
    }
}

static void *pair_main(void *arg)
{
    struct pair *pair = arg;
    char *buffer = malloc(BUFFER_BYTES);
    if (buffer && pair->server >= 0) {
        serve_pair(pair, buffer);
    }
    (void)shutdown(pair->client, SHUT_RDWR);
    if (pair->server >= 0) {
        (void)close(pair->server);
    }
    free(buffer);
    free(pair);
    return NULL;
}

static void *accept_main(void *arg)
{
    struct test_proxy *proxy = arg;
    int client;
    while ((client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct pair *pair = calloc(1, sizeof *pair);
        (void)pthread_mutex_lock(&proxy->mutex);
        int i = proxy->n_threads;
        bool room = pair && i < CONNECTIONS_MAX;
        if (room) {
            *pair = (struct pair){proxy, client, connect_server(proxy->server)};
            proxy->clients[i] = client;
            room = pthread_create(&proxy->threads[i], NULL, pair_main, pair) == 0;
            proxy->n_threads += room;
        }
        (void)pthread_mutex_unlock(&proxy->mutex);
        if (!room) {
            (void)close(client);
            free(pair);
        }
    }
    return NULL;
}

struct test_proxy *test_proxy_start(const struct test_postgres *postgres, const char *database,
                                    char out_conninfo[TEST_CONNINFO_SIZE])
{
    struct sockaddr_un address;
    char path[128];
    struct test_proxy *proxy = calloc(1, sizeof *proxy);
    assert_non_null(proxy);
    (void)snprintf(proxy->directory, sizeof proxy->directory, "/tmp/assay-proxy-XXXXXX");
    assert_non_null(mkdtemp(proxy->directory));
    (void)snprintf(path, sizeof path, "%s/.s.PGSQL.5432", proxy->directory);
    (void)snprintf(proxy->server, sizeof proxy->server, "%s/.s.PGSQL.5432", postgres->directory);
    (void)pthread_mutex_init(&proxy->mutex, NULL);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(proxy->listener >= 0);
    assert_true(set_address(&address, path));
    assert_int_equal(bind(proxy->listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(proxy->listener, 64), 0);
    assert_int_equal(pthread_create(&proxy->acceptor, NULL, accept_main, proxy), 0);
    (void)snprintf(out_conninfo, TEST_CONNINFO_SIZE, "host=%s user=assay dbname=%s",
                   proxy->directory, database);
    return proxy;
}

void test_proxy_stop(struct test_proxy *proxy)
{
    char path[128];
    (void)shutdown(proxy->listener, SHUT_RDWR);
    (void)pthread_join(proxy->acceptor, NULL);
    for (int i = 0; i < proxy->n_threads; i++) {
        (void)shutdown(proxy->clients[i], SHUT_RDWR);
        (void)pthread_join(proxy->threads[i], NULL);
        (void)close(proxy->clients[i]);
    }
    (void)close(proxy->listener);
    (void)snprintf(path, sizeof path, "%s/.s.PGSQL.5432", proxy->directory);
    (void)unlink(path);
    (void)rmdir(proxy->directory);
    (void)pthread_mutex_destroy(&proxy->mutex);
    free(proxy);
}

void test_proxy_lose(struct test_proxy *proxy, const char *text, int n, bool before)
{
    (void)pthread_mutex_lock(&proxy->mutex);
    (void)snprintf(proxy->text, sizeof proxy->text, "%s", text);
    proxy->to_lose = n;
    proxy->before = before;
    (void)pthread_mutex_unlock(&proxy->mutex);
}

int test_proxy_lost(struct test_proxy *proxy)
{
    (void)pthread_mutex_lock(&proxy->mutex);
    int lost = proxy->lost;
    (void)pthread_mutex_unlock(&proxy->mutex);
    return lost;
}
