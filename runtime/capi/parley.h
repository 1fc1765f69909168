/*
 * Parley for C and C++: protocol machines behind handles, everything that
 * happens as data.
 *
 * A machine is opened by the name under which the library was built with it,
 * gets links, takes commands, and its events are polled:
 *
 *     parley_error err;
 *     parley_event event;
 *     int64_t m = parley_open("confirm.peer", "", &err);
 *     parley_connect(m, 0, "tcp:127.0.0.1:21837", &err);
 *     parley_step(m, "change{item: 1, value: 2}", &err);
 *     while (parley_poll(m, &event, text, sizeof text, 1000, &err) == PARLEY_OK)
 *         ...
 *     parley_close(m);
 *
 * Calls return PARLEY_OK or a negative number; then err, which may be NULL,
 * says what is wrong and what to do. Any thread may make any call; those on
 * one machine are carried out one after the other. A call that waits is woken
 * when its machine is closed. Nothing calls back into the program from a thread
 * that is not its own, and no memory changes hands: buffers belong to the
 * caller, always. Texts are UTF-8, and are cut at the end of their buffer,
 * which always ends with a zero. A pointer that is NULL where something is
 * needed, a size that no buffer has and a number that nothing has are errors
 * like others; a pointer to what is no memory cannot be seen and is not.
 *
 * Threads and signals. The library has threads of its own from the moment that
 * it is loaded, and handlers for the signals that Go needs (SIGSEGV, SIGBUS,
 * SIGFPE, SIGURG and SIGPIPE). A handler that the program
 * sets afterwards needs SA_ONSTACK, and passes on what is not its own.
 *
 * fork. A child has none of those threads. Every call in it returns
 * PARLEY_ERROR at once, and its machines stay with the parent, with their
 * sockets. fork and exec at once is all right: sockets are not inherited.
 *
 * Unloading. Go cannot be unloaded. dlclose leaves a shared object of the
 * library where it is (it is linked with -z nodelete), machines run on until
 * parley_close, and dlopen gives the same library again. When the process ends
 * without parley_close, links are cut off instead of closed in good order. Two
 * libraries of Go in one process share nothing, and are best made one.
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

#define PARLEY_VERSION 1200

/* What calls return. */
enum {
	PARLEY_OK = 0,
	PARLEY_NOTHING = -1, /* parley_poll: no event within the time */
	PARLEY_REFUSED = -2, /* parley_step: the command is not available in this state */
	PARLEY_SHORT = -3,   /* a buffer is too small; nothing is lost, call again with a larger one */
	PARLEY_ERROR = -4,   /* wrong arguments, no such machine, no connection, ... */
	PARLEY_ENDED = -5    /* parley_poll: the machine has stopped, and its last event was taken */
};

/* What an event tells. */
enum {
	PARLEY_NONE = 0,
	PARLEY_REPORT = 1,    /* text: the report, such as changed{item: 3} */
	PARLEY_STATE = 2,     /* text: the state that the machine has entered */
	PARLEY_LINK_UP = 3,   /* peer can be reached; text: its address, empty if it has none */
	PARLEY_LINK_LOST = 4, /* text: why */
	PARLEY_EVENT_REFUSED = 5, /* text: which event was refused, or what else went wrong */
	PARLEY_FRAME = 6,     /* data: a frame for peer; only with a link of one's own */
	PARLEY_STOPPED = 7    /* text: why the machine takes nothing any more; the last event of a handle if peer is -1 */
};

typedef struct parley_error {
	char text[512];
} parley_error;

typedef struct parley_event {
	int32_t kind;
	int32_t peer;  /* -1 where it does not matter; of a server, the number of the connection */
	size_t length; /* of text or data in bytes, without the final zero */
} parley_event;

#ifndef PARLEY_NO_PROTOTYPES

/*
 * PARLEY_VERSION of the library, which may be newer than the header. It is the
 * only call that needs no library of the same thousand.
 */
int64_t parley_version(void);

/* Writes the names of the machines that the library was built with, with spaces between them. */
int64_t parley_names(char *names, size_t size, parley_error *err);

/*
 * Opens a machine and runs it. params are those of its role, such as
 * "wins: true", and may have
 *   .idle: 5000           milliseconds after which a silent peer's link is closed
 *   .handshake: 2000      the same for a peer that has said nothing acceptable yet, 0 for no
 *                         limit. Without it, connections that come to this machine (parley_listen,
 *                         parley_serve, parley_open_server) have 10000, and others no limit
 *   .keepRefused: true    a peer that sends what is refused keeps its link,
 *   .keepMalformed: true  and one that sends what is no message
 * Returns a handle, which is positive.
 */
int64_t parley_open(const char *name, const char *params, parley_error *err);

/*
 * Gives the machine a link to a peer (0 where there is only one):
 *   tcp:HOST:PORT          a connection that is made now
 *   udp:LOCAL>HOST:PORT    a socket at LOCAL, such as 0.0.0.0:0, and the peer's address
 *   udp:LOCAL              a socket, and everybody who sends something: peers from this number on
 *   ipx:HOST:PORT/SOCKET   an IPX network of DOSBox's kind; SOCKET in hexadecimal
 *   own                    the program carries the frames, in order and without loss
 *   own:datagrams          the program carries the frames and promises nothing
 * and, where the library was built with them, tls: in the place of tcp: and
 * dtls: in that of udp:. Options stand behind it in braces, those of udp: and
 * ipx: being {peers: 16, silence: 20000}, the most peers and the milliseconds
 * after which one that sends nothing is lost, those of udp: also
 * {broadcast: "192.168.1.255:6581", hear: "192.168.1.255:6581"}, where what is
 * for everybody goes and is heard, and {cookie: true}, which both ends need, so
 * that nobody becomes a peer under a forged address, and those of udp: and ipx:
 * {even: true}, which sends a peer that came by itself no more bytes than it
 * has sent. On a udp: socket without peers and without a cookie that is so
 * unless {even: false} is given: else a request with a forged address would
 * bring its victim answers without bound. What is held back is lost, as
 * datagrams are, and a PARLEY_EVENT_REFUSED says so. docs/C.md has the options
 * of tls: and dtls:.
 * Of a protocol with several channels {channel: "places"} says whose link it is,
 * here and for parley_listen; without it, it is that of the channel with which
 * peers come and go. A peer is there when it has a link for each channel that
 * loses nothing. `own`, parley_serve and parley_open_server take none of these.
 * A link that promises less than the protocol was checked for is refused, and
 * so is a second one to a peer that has one, and a peer that the protocol has not.
 */
int64_t parley_connect(int64_t machine, int32_t peer, const char *link, parley_error *err);

/*
 * Gives the machine a connection that comes to "tcp:ADDRESS:PORT" (or tls:) and
 * writes the address with its port, which may have been 0, to address, which
 * may be NULL. Does not wait. Others may come until the machine has accepted a
 * message: one that says nothing gives way to the next, is closed after
 * .handshake at the latest, and the machine hears that it is lost. With
 * {opening: true} the machine hears of none that has not sent a whole message,
 * and a stranger changes nothing. That is for protocols whose other side
 * speaks without being spoken to, above all those that end when a link is lost.
 */
int64_t parley_listen(int64_t machine, int32_t peer, const char *link, char *address, size_t size, parley_error *err);

/*
 * The same for all connections that come, for a machine with many peers: each
 * becomes the peer with the least free number from first to last, and those
 * beyond are closed at once, unless one of the others has said nothing yet and
 * gives way. {opening: true} is as above, here and for parley_open_server.
 */
int64_t parley_serve(int64_t machine, int32_t first, int32_t last, const char *link, char *address, size_t size, parley_error *err);

/*
 * A server with a machine for each connection to "tcp:ADDRESS:PORT" or tls:, at
 * most `most` at a time (10000 at most); or for each address that sends a
 * message to "udp:ADDRESS:PORT" or dtls: (1024 at most). Nobody hears that such
 * an address has gone: it is lost when it has been silent for its limit. Every machine knows its peer by 0 itself; in the server's events,
 * and in parley_step_peer, parley_text_peer and parley_disconnect, a number
 * from 0 says whose machine it is. When its link is lost the machine ends, with
 * PARLEY_STOPPED, and the number is free again. Returns a handle.
 */
int64_t parley_open_server(const char *name, const char *params, int32_t most, const char *link, char *address, size_t size, parley_error *err);

/*
 * Closes the link to a peer; the machine hears that it is lost. Of a server it
 * is a connection, and its machine ends. Calls about a connection that ends
 * meanwhile say that there is no such connection.
 */
int64_t parley_disconnect(int64_t machine, int32_t peer, parley_error *err);

/* Gives a command, such as "confirm" or "change{item: 1, value: 2}", and waits until it is carried out. */
int64_t parley_step(int64_t machine, const char *command, parley_error *err);

/* The same for one of a server's machines. */
int64_t parley_step_peer(int64_t server, int32_t peer, const char *command, parley_error *err);

/*
 * Takes the oldest event, waiting for at most so many milliseconds, for ever
 * if that is negative. data gets the text or the bytes, and a zero behind them. A
 * program that lets 4096 events wait has its machine stopped.
 */
int64_t parley_poll(int64_t machine, parley_event *event, char *data, size_t size, int32_t milliseconds, parley_error *err);

/*
 * Calls handler for events that wait, for at most `most` of them, or for all
 * if that is 0: what a game does once in a frame. It runs in the thread that
 * calls parley_dispatch, may make every call, and gets text or data with a zero
 * behind it, which are valid until it returns. Does not wait. Returns how many
 * events there were, or PARLEY_ENDED, ...
 */
typedef void (*parley_handler)(void *user, const parley_event *event, const char *data);
int64_t parley_dispatch(int64_t machine, parley_handler handler, void *user, int32_t most, parley_error *err);

/* Gives the machine a frame that came from a peer over a link of one's own. */
int64_t parley_deliver(int64_t machine, int32_t peer, const void *frame, size_t size, parley_error *err);

/* Writes the machine's state and variables as text. */
int64_t parley_text(int64_t machine, char *text, size_t size, parley_error *err);
int64_t parley_text_peer(int64_t server, int32_t peer, char *text, size_t size, parley_error *err);

/* Reads a field of an event's text; fields of records are reached with dots. true is 1. */
int64_t parley_field_int(const char *text, const char *name, int64_t *value);
int64_t parley_field_text(const char *text, const char *name, char *value, size_t size);

/* Closes the links of a machine or a server in good order and ends it. The handle is no longer valid. */
int64_t parley_close(int64_t machine);

#endif /* PARLEY_NO_PROTOTYPES */

#ifdef __cplusplus
}
#endif

#endif
