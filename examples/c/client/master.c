/*
 * A masterserver in C: one machine with many peers, the role master of the
 * protocol masterserver. Game servers connect and register with lines of text.
 *
 *     master tcp:127.0.0.1:0
 *
 * prints where it listens, who comes and goes, and the list whenever it has changed. It
 * ends at the end of its standard input.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "parley.h"

static parley_error err;

static void check(int64_t code, const char *what) {
	if (code < 0) {
		fprintf(stderr, "%s: %s\n", what, err.text);
		exit(1);
	}
}

static void happened(void *user, const parley_event *event, const char *text) {
	static char list[1 << 18];
	int64_t machine = *(int64_t *)user;
	switch (event->kind) {
	case PARLEY_LINK_UP:
		printf("%d comes from %s\n", (int)event->peer, text);
		break;
	case PARLEY_LINK_LOST:
		printf("%d goes\n", (int)event->peer);
		break;
	case PARLEY_REPORT: /* changed */
		check(parley_text(machine, list, sizeof list, &err), "text");
		printf("%s\n", list);
		break;
	default:
		break;
	}
	fflush(stdout);
}

/* over reports whether standard input has ended; it waits for at most 10 ms. */
static int over(void) {
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};
	char byte;
	return poll(&in, 1, 10) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: master tcp:ADDRESS:PORT\n");
		return 2;
	}
	char address[100];
	int64_t machine = parley_open("masterserver.master", ".handshake: 10000, .idle: 120000", &err);
	check(machine, "open");
	check(parley_serve(machine, 1, 299, argv[1], address, sizeof address, &err), argv[1]);
	printf("listening on %s\n", address);
	fflush(stdout);
	while (!over())
		check(parley_dispatch(machine, happened, &machine, 0, &err), "events");
	check(parley_close(machine), "close");
	return 0;
}
