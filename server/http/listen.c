/* SPDX-License-Identifier: MIT
 *
 * The listening socket, and which Host names a request may carry.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "server/http/server_internal.h"

/* "host:port", "[v6]:port" -> host without brackets, port text. */
static bool address_split(const char *text, char *out_host, size_t host_size, char *out_port,
                          size_t port_size)
{
    const char *colon = strrchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (!digits || colon[1 + digits] || digits >= port_size ||
        strtol(colon + 1, NULL, 10) > UINT16_MAX) {
        return false;
    }
    size_t size = (size_t)(colon - text);
    if (size >= 2 && text[0] == '[' && colon[-1] == ']') {
        text++;
        size -= 2;
    }
    if (size == 0 || size >= host_size) {
        return false;
    }
    memcpy(out_host, text, size);
    out_host[size] = '\0';
    memcpy(out_port, colon + 1, digits + 1);
    return true;
}

static bool address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *v6 = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static int socket_bind(const struct addrinfo *info, int *out_errno)
{
    int yes = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        *out_errno = errno;
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, 511) != 0) {
        *out_errno = errno;
        (void)close(fd);
        return -1;
    }
    return fd;
}

static uint16_t socket_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.v6 = {0}};
    socklen_t size = sizeof address;
    if (getsockname(fd, &address.any, &size) != 0) {
        return 0;
    }
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

/* On success the caller frees *out_info. */
static enum sv_status address_find(const char *text, char *out_host, size_t host_size,
                                   struct addrinfo **out_info, struct sv_error *err)
{
    char port[8];
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    if (!address_split(text, out_host, host_size, port, sizeof port)) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "listen",
                                 "listen must be host:port or [address]:port");
    }
    int rc = getaddrinfo(out_host, port, &hints, out_info);
    return rc == 0 ? SV_OK
                   : sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "listen",
                                       "listen address: %s", gai_strerror(rc));
}

enum sv_status http_listen_check(const char *listen, struct sv_error *err)
{
    char host[sizeof((struct http_server *)0)->host];
    struct addrinfo *info = NULL;
    enum sv_status status = address_find(listen, host, sizeof host, &info, err);
    if (status == SV_OK) {
        freeaddrinfo(info);
    }
    return status;
}

enum sv_status http_listen(struct http_server *server, struct sv_error *err)
{
    const char *text = server->config->listen;
    struct addrinfo *info = NULL;
    enum sv_status status = address_find(text, server->host, sizeof server->host, &info, err);
    if (status != SV_OK) {
        return status;
    }
    int failure = 0;
    server->listen_fd = socket_bind(info, &failure);
    server->any_literal_host = !address_is_loopback(info->ai_addr);
    freeaddrinfo(info);
    if (server->listen_fd < 0) {
        return sv_fail_parameter(err,
                                 failure == EADDRINUSE ? SV_ERR_CONFLICT : SV_ERR_INVALID_PARAMETER,
                                 "listen", "cannot listen on %s: %s%s", text, strerror(failure),
                                 failure == EADDRINUSE ? "; ASSAY_LISTEN names another" : "");
    }
    server->port = socket_port(server->listen_fd);
    return SV_OK;
}

static bool is_address_literal(const char *host)
{
    struct in6_addr any;
    return inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1;
}

bool http_host_is_allowed(const struct http_server *server, const char *host)
{
    char name[256];
    const char *end = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
    if (!end || (*end == ']' && end[1] && end[1] != ':')) {
        return false;
    }
    const char *begin = host + (host[0] == '[');
    size_t size = (size_t)(end - begin);
    if (size == 0 || size >= sizeof name) {
        return false;
    }
    memcpy(name, begin, size);
    name[size] = '\0';
    const char *own[] = {"localhost", "127.0.0.1", "::1", server->host};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcasecmp(name, own[i]) == 0) {
            return true;
        }
    }
    const char *allowed = server->config->allowed_hosts;
    return (server->any_literal_host && is_address_literal(name)) ||
           http_text_in_list(allowed, "*", 1) || http_text_in_list(allowed, name, size);
}
