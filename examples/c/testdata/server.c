/*
 * A server with a machine for each connection, and its clients, in one process
 * with several threads: the protocol ready. It is what the sanitizers watch.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parley.h"

enum { CLIENTS = 4, ROUNDS = 20 };

static void check(int64_t code, const parley_error *err, const char *what) {
	if (code < 0) {
		fprintf(stderr, "%s: %lld, %s\n", what, (long long)code, err->text);
		exit(1);
	}
}

static char link_to[128];

/* client passes some barriers together with the server. */
static void *client(void *unused) {
	parley_error err;
	parley_event event;
	char text[256];
	int passed = 0;
	int64_t m = parley_open("ready.peer", "", &err);
	check(m, &err, "open");
	check(parley_connect(m, 0, link_to, &err), &err, "connect");
	check(parley_step(m, "ready", &err), &err, "ready");
	while (passed < ROUNDS) {
		check(parley_poll(m, &event, text, sizeof text, 60000, &err), &err, "client");
		if (event.kind == PARLEY_REPORT && ++passed < ROUNDS)
			check(parley_step(m, "ready", &err), &err, "ready again");
	}
	check(parley_close(m), &err, "close");
	return unused;
}

struct server {
	int64_t handle;
	int passed, gone;
};

static void happened(void *user, const parley_event *event, const char *text) {
	struct server *s = user;
	parley_error err;
	char state[256];
	switch (event->kind) {
	case PARLEY_STATE:
		if (strcmp(text, "remoteReady") != 0)
			break;
		check(parley_step_peer(s->handle, event->peer, "ready", &err), &err, "server");
		break;
	case PARLEY_LINK_UP:
		if (parley_text_peer(s->handle, event->peer, state, sizeof state, &err) != PARLEY_OK)
			fprintf(stderr, "text: %s\n", err.text);
		break;
	case PARLEY_REPORT:
		s->passed++;
		break;
	case PARLEY_STOPPED:
		s->gone++;
		break;
	}
}

/* watch waits for a server that nobody else polls, until it is closed. */
static void *watch(void *handle) {
	parley_error err;
	parley_event event;
	char text[256];
	while (parley_poll(*(int64_t *)handle, &event, text, sizeof text, -1, &err) == PARLEY_OK) {}
	return NULL;
}

/* next waits for an event of a kind. */
static int32_t next(int64_t server, int32_t kind) {
	parley_error err;
	parley_event event;
	char text[256];
	do
		check(parley_poll(server, &event, text, sizeof text, 60000, &err), &err, "next");
	while (event.kind != kind);
	return event.peer;
}

/* again closes the first connection, if it is still there. */
static void *again(void *handle) {
	parley_error err;
	if (parley_disconnect(*(int64_t *)handle, 0, &err) < 0 && strcmp(err.text, "there is no connection 0") != 0) {
		fprintf(stderr, "disconnect: %s\n", err.text);
		exit(1);
	}
	return NULL;
}

/* disconnects has a server close connections, also from two threads at once. */
static void disconnects(int64_t server) {
	parley_error err;
	pthread_t other;
	for (int i = 0; i < ROUNDS; i++) {
		int64_t m = parley_open("ready.peer", "", &err);
		check(m, &err, "open");
		check(parley_connect(m, 0, link_to, &err), &err, "connect");
		int32_t peer = next(server, PARLEY_LINK_UP);
		if (i % 2 == 0) {
			check(parley_disconnect(server, peer, &err), &err, "disconnect");
		} else {
			pthread_create(&other, NULL, again, &server);
			again(&server);
			pthread_join(other, NULL);
		}
		next(server, PARLEY_STOPPED);
		check(parley_close(m), &err, "close");
	}
}

int main(void) {
	parley_error err;
	pthread_t threads[CLIENTS], watching[2];
	char address[100], names[2048];
	struct server s = {0, 0, 0};
	if (parley_version() != PARLEY_VERSION) {
		fprintf(stderr, "version %d\n", (int)parley_version());
		return 1;
	}
	check(parley_names(names, sizeof names, &err), &err, "names");
	printf("%s\n", names);
	s.handle = parley_open_server("ready.peer", ".idle: 60000", CLIENTS, "tcp:127.0.0.1:0", address, sizeof address, &err);
	check(s.handle, &err, "server");
	snprintf(link_to, sizeof link_to, "tcp:%s", address);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&threads[i], NULL, client, NULL);
	while (s.gone < CLIENTS)
		check(parley_dispatch(s.handle, happened, &s, 3, &err), &err, "events");
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	disconnects(s.handle);
	for (int i = 0; i < 2; i++)
		pthread_create(&watching[i], NULL, watch, &s.handle);
	check(parley_close(s.handle), &err, "close");
	for (int i = 0; i < 2; i++)
		pthread_join(watching[i], NULL);
	if (parley_dispatch(s.handle, happened, &s, 0, &err) != PARLEY_ERROR || parley_dispatch(s.handle, NULL, &s, 0, &err) != PARLEY_ERROR) {
		fprintf(stderr, "a closed handle has events\n");
		return 1;
	}
	printf("passed: %d\n", s.passed);
	return s.passed == CLIENTS * ROUNDS ? 0 : 1;
}
