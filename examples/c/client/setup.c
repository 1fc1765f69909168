/*
 * Agrees with a peer about shared properties: the protocol setup, played from
 * C. Each side may change properties until both have confirmed the same values.
 *
 *     setup tcp:127.0.0.1:21837 0 7
 *
 * connects, changes property 0 to 7, confirms, and confirms again whenever the
 * peer has changed something, until both sides agree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parley.h"

static parley_error err;

/* check ends the program when a call has failed. */
static void check(int64_t code, const char *what) {
	if (code < 0) {
		fprintf(stderr, "%s: %s\n", what, err.text);
		exit(1);
	}
}

/* confirm agrees to the present values. It is refused where that has been said already. */
static void confirm(int64_t machine) {
	int64_t code = parley_step(machine, "confirm", &err);
	if (code != PARLEY_REFUSED)
		check(code, "confirm");
}

static void changed(const char *report) {
	int64_t property, value;
	if (parley_field_int(report, "property", &property) == PARLEY_OK && parley_field_int(report, "value", &value) == PARLEY_OK)
		printf("the peer sets property %d to %d\n", (int)property, (int)value);
}

/* agree plays until both sides agree. */
static void agree(int64_t machine, const char *change) {
	parley_event event;
	char text[4096];
	for (;;) {
		check(parley_poll(machine, &event, text, sizeof text, 10000, &err), "nothing from the peer");
		switch (event.kind) {
		case PARLEY_LINK_UP:
			printf("connected\n");
			check(parley_step(machine, change, &err), change);
			confirm(machine);
			break;
		case PARLEY_REPORT:
			changed(text);
			confirm(machine);
			break;
		case PARLEY_STATE:
			if (strcmp(text, "done") == 0) {
				printf("both sides agree\n");
				return;
			}
			break;
		default: /* a refused event, a lost link, or the machine has stopped */
			fprintf(stderr, "%s\n", text);
			exit(1);
		}
		fflush(stdout);
	}
}

int main(int argc, char **argv) {
	if (argc != 4) {
		fprintf(stderr, "setup: it takes 3 arguments, not %d\nusage: setup tcp:HOST:PORT PROPERTY VALUE\n", argc - 1);
		return 2;
	}
	char change[100], text[4096];
	/* A word that is no number is found by parley_step, which says so. */
	snprintf(change, sizeof change, "change{property: %.20s, value: %.20s}", argv[2], argv[3]);
	int64_t machine = parley_open("setup.peer", "index: 0", &err);
	check(machine, "open");
	check(parley_connect(machine, 0, argv[1], &err), argv[1]);
	agree(machine, change);
	check(parley_text(machine, text, sizeof text, &err), "text");
	printf("%s\n", text);
	parley_close(machine);
	return 0;
}
