//go:build cgo

/*
 * The functions of parley.h. Each goes on to the one of Go's that has its work,
 * unless this process is a child that fork has made: there the threads of Go do
 * not run, and a call might wait for ever.
 */
#include <stdio.h>
#include <stdlib.h>

#include "parley.h"
#include "_cgo_export.h"

#ifdef _WIN32
static int forked(parley_error *err) {
	(void)err;
	return 0;
}
#else
#include <unistd.h>

static pid_t loaded;

/* note keeps which process the library was loaded in, before main begins. */
__attribute__((constructor)) static void note(void) { loaded = getpid(); }

static int forked(parley_error *err) {
	if (getpid() == loaded)
		return 0;
	if (err != NULL)
		snprintf(err->text, sizeof err->text, "this process is a child of fork: the library works only in the one that loaded it");
	return 1;
}
#endif

#define HERE(err) do { if (forked(err)) return PARLEY_ERROR; } while (0)

int64_t parley_version(void) { return PARLEY_VERSION; }

int64_t parley_names(char *names, size_t size, parley_error *err) {
	HERE(err);
	return parley_go_names(names, size, err);
}

int64_t parley_open(const char *name, const char *params, parley_error *err) {
	HERE(err);
	return parley_go_open((char *)name, (char *)params, err);
}

int64_t parley_open_server(const char *name, const char *params, int32_t most, const char *link, char *address, size_t size, parley_error *err) {
	HERE(err);
	return parley_go_open_server((char *)name, (char *)params, most, (char *)link, address, size, err);
}

int64_t parley_connect(int64_t machine, int32_t peer, const char *link, parley_error *err) {
	HERE(err);
	return parley_go_connect(machine, peer, (char *)link, err);
}

int64_t parley_listen(int64_t machine, int32_t peer, const char *link, char *address, size_t size, parley_error *err) {
	HERE(err);
	return parley_go_serve(machine, peer, peer, 1, (char *)link, address, size, err);
}

int64_t parley_serve(int64_t machine, int32_t first, int32_t last, const char *link, char *address, size_t size, parley_error *err) {
	HERE(err);
	return parley_go_serve(machine, first, last, 0, (char *)link, address, size, err);
}

int64_t parley_disconnect(int64_t machine, int32_t peer, parley_error *err) {
	HERE(err);
	return parley_go_disconnect(machine, peer, err);
}

int64_t parley_step(int64_t machine, const char *command, parley_error *err) {
	HERE(err);
	return parley_go_step(machine, -1, (char *)command, err);
}

int64_t parley_step_peer(int64_t server, int32_t peer, const char *command, parley_error *err) {
	HERE(err);
	return parley_go_step(server, peer, (char *)command, err);
}

int64_t parley_poll(int64_t machine, parley_event *event, char *data, size_t size, int32_t milliseconds, parley_error *err) {
	HERE(err);
	return parley_go_poll(machine, event, data, size, milliseconds, err);
}

int64_t parley_dispatch(int64_t machine, parley_handler handler, void *user, int32_t most, parley_error *err) {
	parley_event event;
	size_t size = 4096;
	int64_t code = PARLEY_OK;
	int32_t taken = 0;
	char *data;
	HERE(err);
	if (handler == NULL) {
		if (err != NULL)
			snprintf(err->text, sizeof err->text, "the handler is NULL");
		return PARLEY_ERROR;
	}
	data = malloc(size);
	while (data != NULL && (most <= 0 || taken < most)) {
		code = parley_go_poll(machine, &event, data, size, 0, err);
		if (code == PARLEY_SHORT) {
			free(data);
			size = event.length + 1;
			data = malloc(size);
			continue;
		}
		if (code != PARLEY_OK)
			break;
		taken++;
		handler(user, &event, data);
	}
	if (data == NULL) {
		if (err != NULL)
			snprintf(err->text, sizeof err->text, "there is no memory for an event of %lu bytes", (unsigned long)size);
		return PARLEY_ERROR;
	}
	free(data);
	if (taken > 0 || code == PARLEY_NOTHING) {
		if (err != NULL)
			err->text[0] = 0;
		return taken;
	}
	return code;
}

int64_t parley_deliver(int64_t machine, int32_t peer, const void *frame, size_t size, parley_error *err) {
	HERE(err);
	return parley_go_deliver(machine, peer, (void *)frame, size, err);
}

int64_t parley_text(int64_t machine, char *text, size_t size, parley_error *err) {
	HERE(err);
	return parley_go_text(machine, -1, text, size, err);
}

int64_t parley_text_peer(int64_t server, int32_t peer, char *text, size_t size, parley_error *err) {
	HERE(err);
	return parley_go_text(server, peer, text, size, err);
}

int64_t parley_field_int(const char *text, const char *name, int64_t *value) {
	HERE(NULL);
	return parley_go_field_int((char *)text, (char *)name, value);
}

int64_t parley_field_text(const char *text, const char *name, char *value, size_t size) {
	HERE(NULL);
	return parley_go_field_text((char *)text, (char *)name, value, size);
}

int64_t parley_close(int64_t machine) {
	HERE(NULL);
	return parley_go_close(machine);
}
