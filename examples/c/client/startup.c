/*
 * A peer of a game without a server: the protocol startup, played from C. The
 * peers of a network find each other by broadcast, choose who founds the game,
 * and give each other slots.
 *
 *     startup 127.0.0.1 127.255.255.255:6581
 *
 * says what it comes to and how many players there are, and leaves at the end of
 * its standard input. The loop is that of a game: the events of a frame, then
 * the game's own work.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parley.h"

static parley_error err;

static void check(int64_t code, const char *what) {
	if (code < 0) {
		fprintf(stderr, "%s: %s\n", what, err.text);
		exit(1);
	}
}

struct game {
	int in, ended;
};

/* happened is told of each event, in the thread of the loop. */
static void happened(void *user, const parley_event *event, const char *text) {
	struct game *game = user;
	switch (event->kind) {
	case PARLEY_STATE:
		printf("%s\n", text);
		game->in = strcmp(text, "game") == 0;
		break;
	case PARLEY_REPORT:
		printf("  %s\n", text);
		break;
	case PARLEY_LINK_UP:
		printf("  peer %d is %s\n", (int)event->peer, text);
		break;
	case PARLEY_STOPPED:
		game->ended = 1;
		break;
	default: /* who sends nonsense, or vanishes, is the machine's business */
		break;
	}
	fflush(stdout);
}

/* players counts the slots that are taken, in the machine's text: table: [127, none, 64, none] */
static int players(int64_t machine) {
	char text[65536], table[1000];
	int n = 0;
	check(parley_text(machine, text, sizeof text, &err), "text");
	if (parley_field_text(text, "table", table, sizeof table) != PARLEY_OK)
		return 0;
	for (char *slot = strtok(table, "[], "); slot != NULL; slot = strtok(NULL, "[], "))
		n += strcmp(slot, "none") != 0;
	return n;
}

/* over reports whether standard input has ended; it waits for the rest of a frame. */
static int over(void) {
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};
	char byte;
	return poll(&in, 1, 16) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: startup ADDRESS BROADCAST\n");
		return 2;
	}
	char params[600];
	snprintf(params, sizeof params, "bind: \"%.200s\", broadcast: \"%.200s\", .keepRefused: true, .keepMalformed: true", argv[1], argv[2]);
	struct game game = {0, 0};
	int shown = 0;
	int64_t machine = parley_open("startup.peer", params, &err);
	check(machine, "open");
	check(parley_step(machine, "connect", &err), "connect");
	for (int n = 0; !game.ended && !over(); n++) {
		check(parley_dispatch(machine, happened, &game, 0, &err), "events");
		if (n % 30 == 0 && game.in) { /* twice a second */
			int64_t code = parley_step(machine, "alive", &err);
			if (code != PARLEY_REFUSED)
				check(code, "alive");
			int now = players(machine);
			if (now != shown)
				printf("players: %d\n", now);
			shown = now;
			fflush(stdout);
		}
	}
	parley_step(machine, "leave", &err);
	parley_close(machine);
	return 0;
}
