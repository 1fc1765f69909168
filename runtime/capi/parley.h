/*
 * Parley for C and C++: protocol machines behind handles, everything that
 * happens as data.
 *
 * A machine is opened by the name under which the library was built with it,
 * gets links, takes commands, and its events are polled:
 *
 *     parley_error err;
 *     int64_t m = parley_open("confirm.peer", "", &err);
 *     parley_connect(m, 0, "tcp:127.0.0.1:21837", &err);
 *     parley_step(m, "change{item: 1, value: 2}", &err);
 *     while (parley_poll(m, &event, text, sizeof text, 1000, &err) == PARLEY_OK)
 *         ...
 *     parley_close(m);
 *
 * Calls return PARLEY_OK or a negative number; then err, which may be NULL,
 * says what is wrong and what to do. Any thread may make any call; those on
 * one machine are carried out one after the other. Nothing calls back into the program,
 * and no memory changes hands: buffers belong to the caller, always. Texts are
 * UTF-8, and are cut at the end of their buffer, which always ends with a zero.
 *
 * Numbers below PARLEY_VERSION's thousands may be added, never changed.
 */
#ifndef PARLEY_H
#define PARLEY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARLEY_VERSION 1000

/* What calls return. */
enum {
	PARLEY_OK = 0,
	PARLEY_NOTHING = -1, /* parley_poll: no event within the time */
	PARLEY_REFUSED = -2, /* parley_step: the command is not available in this state */
	PARLEY_SHORT = -3,   /* a buffer is too small; nothing is lost, call again with a larger one */
	PARLEY_ERROR = -4    /* wrong arguments, no such machine, no connection, ... */
};

/* What an event tells. */
enum {
	PARLEY_NONE = 0,
	PARLEY_REPORT = 1,    /* text: the report, such as changed{item: 3} */
	PARLEY_STATE = 2,     /* text: the state that the machine has entered */
	PARLEY_LINK_UP = 3,   /* peer can be reached */
	PARLEY_LINK_LOST = 4, /* text: why */
	PARLEY_EVENT_REFUSED = 5, /* text: which event was refused, or what else went wrong */
	PARLEY_FRAME = 6,     /* data: a frame for peer; only with a link of one's own */
	PARLEY_STOPPED = 7    /* text: why the machine takes nothing any more; the last event */
};

typedef struct parley_error {
	char text[512];
} parley_error;

typedef struct parley_event {
	int32_t kind;
	int32_t peer;  /* -1 where it does not matter */
	size_t length; /* of text or data in bytes, without the final zero */
} parley_event;

#ifndef PARLEY_NO_PROTOTYPES

/*
 * Opens a machine and runs it. params are those of its role, such as
 * "wins: true", and may have ".idle: 5000" and ".handshake: 2000":
 * milliseconds after which a silent peer's link is closed. Returns a handle,
 * which is positive.
 */
int64_t parley_open(const char *name, const char *params, parley_error *err);

/*
 * Gives the machine a link to a peer (0 where there is only one):
 *   tcp:HOST:PORT          a connection that is made now
 *   udp:LOCAL>HOST:PORT    a socket at LOCAL, such as 0.0.0.0:0, and the peer's address
 *   ipx:HOST:PORT/SOCKET   an IPX network of DOSBox's kind; SOCKET in hexadecimal
 *   own                    the program carries the frames, in order and without loss
 *   own:datagrams          the program carries the frames and promises nothing
 * A link that promises less than the protocol was checked for is refused.
 */
int64_t parley_connect(int64_t machine, int32_t peer, const char *link, parley_error *err);

/*
 * Gives the machine the first connection that comes to "tcp:ADDRESS:PORT" and
 * writes the address with its port, which may have been 0, to address. Does not wait.
 */
int64_t parley_listen(int64_t machine, int32_t peer, const char *link, char *address, size_t size, parley_error *err);

/* Closes the link to a peer; the machine hears that it is lost. */
int64_t parley_disconnect(int64_t machine, int32_t peer, parley_error *err);

/* Gives a command, such as "confirm" or "change{item: 1, value: 2}", and waits until it is carried out. */
int64_t parley_step(int64_t machine, const char *command, parley_error *err);

/*
 * Takes the oldest event, waiting for at most so many milliseconds, for ever
 * if that is negative. data gets the text or the bytes, and a zero behind them. A
 * program that lets 4096 events wait has its machine stopped.
 */
int64_t parley_poll(int64_t machine, parley_event *event, char *data, size_t size, int32_t milliseconds, parley_error *err);

/* Gives the machine a frame that came from a peer over a link of one's own. */
int64_t parley_deliver(int64_t machine, int32_t peer, const void *frame, size_t size, parley_error *err);

/* Writes the machine's state and variables as text. */
int64_t parley_text(int64_t machine, char *text, size_t size, parley_error *err);

/* Reads a field of an event's text; fields of records are reached with dots. true is 1. */
int64_t parley_field_int(const char *text, const char *name, int64_t *value);
int64_t parley_field_text(const char *text, const char *name, char *value, size_t size);

/* Closes the machine's links in good order and ends it. The handle is no longer valid. */
int64_t parley_close(int64_t machine);

#endif /* PARLEY_NO_PROTOTYPES */

#ifdef __cplusplus
}
#endif

#endif
