/*
 * Wrong calls, one for each name: faults NAME. It exits with 0 if the library
 * answers as parley.h says; whatever else happens, an end of the process among
 * it, is a failure of the test that runs it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parley.h"

static parley_error err;

static void fail(const char *what, int64_t code) {
	fprintf(stderr, "%s: %lld, %s\n", what, (long long)code, err.text);
	exit(1);
}

#define OK(call) do { err.text[0] = 0; int64_t code_ = (call); if (code_ < 0) fail(#call, code_); } while (0)

/* WRONG expects a call to fail with a code and with words in its text. */
#define WRONG(call, want, words) do { \
	err.text[0] = 0; \
	int64_t code_ = (call); \
	if (code_ != (want) || strstr(err.text, words) == NULL) fail(#call, code_); \
} while (0)

static int64_t ready(void) {
	int64_t m = parley_open("ready.peer", "", &err);
	if (m <= 0) fail("open", m);
	return m;
}

/* next polls one event, and returns its kind. */
static int32_t next(int64_t m) {
	parley_event event;
	char text[4096];
	OK(parley_poll(m, &event, text, sizeof text, 60000, &err));
	return event.kind;
}

static void expect(int64_t m, int32_t kind) {
	int32_t got = next(m);
	if (got != kind) fail("another event", got);
}

/* Lengths that no buffer has, as a negative number becomes one in C. */
static void lengths(void) {
	int64_t m = ready();
	parley_event event;
	char text[64];
	size_t negative = (size_t)-1;
	OK(parley_connect(m, 0, "own", &err));
	WRONG(parley_deliver(m, 0, "x", negative, &err), PARLEY_ERROR, "no buffer has");
	WRONG(parley_poll(m, &event, text, negative, 0, &err), PARLEY_ERROR, "no buffer has");
	WRONG(parley_text(m, text, negative, &err), PARLEY_ERROR, "no buffer has");
	WRONG(parley_listen(m, 1, "tcp:127.0.0.1:0", text, negative, &err), PARLEY_ERROR, "no buffer has");
	if (parley_field_text("a{b: 1}", "b", text, negative) != PARLEY_ERROR) fail("field", 0);
	OK(parley_close(m));
}

/* Pointers that are NULL where something is needed. */
static void missing(void) {
	int64_t m = ready();
	parley_event event;
	char text[64];
	OK(parley_connect(m, 0, "own", &err));
	WRONG(parley_open(NULL, "", &err), PARLEY_ERROR, "is NULL");
	WRONG(parley_connect(m, 1, NULL, &err), PARLEY_ERROR, "is NULL");
	WRONG(parley_step(m, NULL, &err), PARLEY_ERROR, "is NULL");
	WRONG(parley_deliver(m, 0, NULL, 10, &err), PARLEY_ERROR, "is NULL");
	WRONG(parley_poll(m, NULL, text, sizeof text, 0, &err), PARLEY_ERROR, "");
	WRONG(parley_poll(m, &event, NULL, 64, 0, &err), PARLEY_ERROR, "");
	WRONG(parley_poll(m, &event, text, 0, 0, &err), PARLEY_ERROR, "");
	WRONG(parley_text(m, NULL, 64, &err), PARLEY_SHORT, "");
	WRONG(parley_text(m, text, 0, &err), PARLEY_SHORT, "");
	if (parley_field_text(NULL, NULL, NULL, 0) != PARLEY_ERROR) fail("field", 0);
	if (parley_field_int(NULL, "b", NULL) != PARLEY_ERROR) fail("field", 0);
	if (parley_step(m, "nonsense", NULL) != PARLEY_ERROR) fail("no place for the error", 0);
	OK(parley_close(m));
}

/* A second link to a peer that has one. */
static void twice(void) {
	int64_t m = ready();
	char text[64];
	OK(parley_connect(m, 0, "own", &err));
	expect(m, PARLEY_LINK_UP);
	WRONG(parley_connect(m, 0, "own", &err), PARLEY_ERROR, "has a link already");
	/* The first one still works. */
	OK(parley_step(m, "ready", &err));
	while (next(m) != PARLEY_FRAME) {} /* the state is told, too */
	/* A listener whose address does not fit listens no more, so the call can be made again. */
	OK(parley_disconnect(m, 0, &err));
	WRONG(parley_listen(m, 0, "tcp:127.0.0.1:0", text, 3, &err), PARLEY_SHORT, "bytes");
	OK(parley_listen(m, 0, "tcp:127.0.0.1:0", text, sizeof text, &err));
	OK(parley_close(m));
	WRONG(parley_step(m, "ready", &err), PARLEY_ERROR, "no such machine");
	if (parley_close(m) != PARLEY_ERROR) fail("closed twice", 0);
}

static void nobody(void) {
	int64_t m = ready();
	WRONG(parley_connect(m, -1, "own", &err), PARLEY_ERROR, "peer");
	WRONG(parley_connect(m, 62, "own", &err), PARLEY_ERROR, "there is no peer 62");
	WRONG(parley_connect(m, 65536, "own", &err), PARLEY_ERROR, "there is no peer 65536");
	WRONG(parley_listen(m, 62, "tcp:127.0.0.1:0", NULL, 0, &err), PARLEY_ERROR, "there is no peer 62");
	WRONG(parley_disconnect(m, 3, &err), PARLEY_ERROR, "peer 3 has no link");
	WRONG(parley_deliver(m, 3, "x", 1, &err), PARLEY_ERROR, "peer 3");
	WRONG(parley_step(m + 1000, "ready", &err), PARLEY_ERROR, "no such machine");
	OK(parley_close(m));
}

static void *wait_for_end(void *machine) {
	parley_event event;
	char text[4096];
	parley_error mine;
	int64_t code;
	do
		code = parley_poll(*(int64_t *)machine, &event, text, sizeof text, -1, &mine);
	while (code == PARLEY_OK && event.kind != PARLEY_STOPPED);
	return (void *)(intptr_t)code;
}

/* Several threads wait for events when the machine is closed: all of them wake. */
static void waiters(void) {
	enum { N = 4 };
	pthread_t threads[N];
	int64_t m = ready();
	int ended = 0, last = 0;
	for (int i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, wait_for_end, &m);
	OK(parley_connect(m, 0, "own", &err));
	OK(parley_close(m));
	for (int i = 0; i < N; i++) {
		void *code;
		pthread_join(threads[i], &code);
		ended += (intptr_t)code != PARLEY_OK;
		last += (intptr_t)code == PARLEY_OK;
	}
	if (last > 1 || ended + last != N) fail("waiters", ended);
}

/* The child of a fork gets an error from every call, and the parent goes on. */
static void forked(void) {
	int64_t m = ready();
	parley_event event;
	char text[64];
	pid_t child = fork();
	if (child == 0) {
		alarm(60); /* ends a child that hangs */
		int wrong = parley_open("ready.peer", "", &err) != PARLEY_ERROR || strstr(err.text, "fork") == NULL
			|| parley_poll(m, &event, text, sizeof text, -1, &err) != PARLEY_ERROR || parley_close(m) != PARLEY_ERROR;
		_exit(wrong);
	}
	int status = -1;
	waitpid(child, &status, 0);
	if (status != 0) fail("the child", status);
	OK(parley_connect(m, 0, "own", &err));
	expect(m, PARLEY_LINK_UP);
	OK(parley_close(m));
}

int main(int argc, char **argv) {
	static const struct { const char *name; void (*run)(void); } all[] = {
		{"lengths", lengths}, {"missing", missing}, {"twice", twice}, {"nobody", nobody}, {"waiters", waiters}, {"forked", forked},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (argc == 2 && strcmp(argv[1], all[i].name) == 0) {
			all[i].run();
			return 0;
		}
	fprintf(stderr, "faults: no case of that name\n");
	return 2;
}
