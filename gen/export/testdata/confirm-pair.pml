/* confirm, check pair: both sides agree, take back and change at any time, with at most two changes under way
   Written by fsmgen from specs/confirm/spec.yaml; the specification is the law, not this file.

   spin -o2 -a FILE && cc -O3 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000 -w25

   visits the configurations that fsmgen check visits, each once: "states, stored" is its number of configurations.
   (-o2 keeps Spin from leaving out variables that nothing reads. A depth -m that is too small drops states; Spin says so.) A failed assertion is named like the claim.
   For two cores and more: spin -DCORES -o2 -a FILE, and cc with -DNCORE=2.
   both_done is a claim that something happens: with spin -DSHOW_both_done -o2 -a the assertion fails where it does.
   Not in this model, claim can-end: that something can be reached from everywhere is no assertion.
*/

mtype = { CONFIRM1, CONFIRM2, CANCEL, CANCELACK, CHANGE };
#define peer_waiting 0
#define peer_localOk 1
#define peer_remoteOk 2
#define peer_committed 3
#define peer_cancelWaiting 4
#define peer_cancelLocalOk 5
#define peer_cancelRemoteOk 6
#define peer_cancelCommitted 7
#define peer_done 8

chan a_to_b = [8] of { mtype };
byte a_to_b_CHANGE; /* how many of these are in it */
chan b_to_a = [8] of { mtype };
byte b_to_a_CHANGE; /* how many of these are in it */

/* a is a peer */
byte a_state = peer_waiting;

/* b is a peer */
byte b_state = peer_waiting;

/* what lives inside a step only, and what assertions that fail are named; no part of a state: for several
   cores, where Spin hides nothing, each step forgets it */
#ifdef CORES
#define HIDDEN
#define FORGET ; m = 0
#else
#define HIDDEN hidden
#define FORGET
#endif
HIDDEN mtype m;
HIDDEN byte unspecified_reception;
HIDDEN byte fault;
HIDDEN byte deadlock;
HIDDEN byte orphan_message;
HIDDEN byte both_done;
HIDDEN byte clean_end;
HIDDEN byte no_lone_end;
HIDDEN byte no_late_change;

active proctype a()
{
end:
	do
	:: d_step { /* waiting confirm, specs/confirm/spec.yaml:28 */
		a_state == peer_waiting ->
		assert(nfull(a_to_b)); a_to_b!CONFIRM1; /* CONFIRM1, specs/confirm/spec.yaml:28 */
		a_state = peer_localOk;
		FORGET
	}
	:: d_step { /* remoteOk confirm, specs/confirm/spec.yaml:40 */
		a_state == peer_remoteOk ->
		assert(nfull(a_to_b)); a_to_b!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:40 */
		a_state = peer_committed;
		FORGET
	}
	:: d_step { /* cancelWaiting confirm, specs/confirm/spec.yaml:49 */
		a_state == peer_cancelWaiting ->
		a_state = peer_cancelLocalOk;
		FORGET
	}
	:: d_step { /* cancelRemoteOk confirm, specs/confirm/spec.yaml:64 */
		a_state == peer_cancelRemoteOk ->
		a_state = peer_cancelCommitted;
		FORGET
	}
	:: d_step { /* localOk cancel, specs/confirm/spec.yaml:34 */
		a_state == peer_localOk ->
		assert(nfull(a_to_b)); a_to_b!CANCEL; /* CANCEL, specs/confirm/spec.yaml:34 */
		a_state = peer_cancelWaiting;
		FORGET
	}
	:: d_step { /* cancelLocalOk cancel, specs/confirm/spec.yaml:57 */
		a_state == peer_cancelLocalOk ->
		a_state = peer_cancelWaiting;
		FORGET
	}
	:: d_step { /* waiting change, specs/confirm/spec.yaml:29 */
		a_state == peer_waiting && a_to_b_CHANGE < 2 ->
		assert(nfull(a_to_b)); a_to_b!CHANGE; a_to_b_CHANGE = a_to_b_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:29 */
		FORGET
	}
	:: d_step { /* remoteOk change, specs/confirm/spec.yaml:41 */
		a_state == peer_remoteOk && a_to_b_CHANGE < 2 ->
		assert(nfull(a_to_b)); a_to_b!CHANGE; a_to_b_CHANGE = a_to_b_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:41 */
		FORGET
	}
	:: d_step { /* cancelWaiting change, specs/confirm/spec.yaml:50 */
		a_state == peer_cancelWaiting && a_to_b_CHANGE < 2 ->
		assert(nfull(a_to_b)); a_to_b!CHANGE; a_to_b_CHANGE = a_to_b_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:50 */
		FORGET
	}
	:: d_step { /* cancelRemoteOk change, specs/confirm/spec.yaml:65 */
		a_state == peer_cancelRemoteOk && a_to_b_CHANGE < 2 ->
		assert(nfull(a_to_b)); a_to_b!CHANGE; a_to_b_CHANGE = a_to_b_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:65 */
		FORGET
	}
	:: d_step { /* a message from b */
		len(b_to_a) > 0 ->
		b_to_a?m;
		if
		:: m == CONFIRM1 ->
			if
			:: a_state == peer_waiting -> /* waiting CONFIRM1, specs/confirm/spec.yaml:30 */
				a_state = peer_remoteOk;
			:: a_state == peer_localOk -> /* localOk CONFIRM1, specs/confirm/spec.yaml:35 */
				assert(nfull(a_to_b)); a_to_b!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:35 */
				a_state = peer_committed;
			:: a_state == peer_cancelWaiting -> /* cancelWaiting CONFIRM1, specs/confirm/spec.yaml:51 */
				a_state = peer_cancelRemoteOk;
			:: a_state == peer_cancelLocalOk -> /* cancelLocalOk CONFIRM1, specs/confirm/spec.yaml:58 */
				a_state = peer_cancelCommitted;
			:: else ->
				assert(unspecified_reception); /* CONFIRM1 is not handled */
			fi;
		:: m == CONFIRM2 ->
			if
			:: a_state == peer_localOk -> /* localOk CONFIRM2, specs/confirm/spec.yaml:36 */
				assert(nfull(a_to_b)); a_to_b!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:36 */
				a_state = peer_done;
			:: a_state == peer_committed -> /* committed CONFIRM2, specs/confirm/spec.yaml:45 */
				a_state = peer_done;
			:: a_state == peer_cancelWaiting -> /* cancelWaiting CONFIRM2, specs/confirm/spec.yaml:52 */
				a_state = peer_cancelRemoteOk;
			:: a_state == peer_cancelLocalOk -> /* cancelLocalOk CONFIRM2, specs/confirm/spec.yaml:59 */
				a_state = peer_cancelCommitted;
			:: a_state == peer_cancelRemoteOk || a_state == peer_cancelCommitted /* cancelRemoteOk CONFIRM2, specs/confirm/spec.yaml:66; cancelCommitted CONFIRM2, specs/confirm/spec.yaml:71 */
			:: else ->
				assert(unspecified_reception); /* CONFIRM2 is not handled */
			fi;
		:: m == CANCEL ->
			if
			:: a_state == peer_remoteOk -> /* remoteOk CANCEL, specs/confirm/spec.yaml:42 */
				assert(nfull(a_to_b)); a_to_b!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:42 */
				a_state = peer_waiting;
			:: a_state == peer_committed -> /* committed CANCEL, specs/confirm/spec.yaml:46 */
				assert(nfull(a_to_b)); a_to_b!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:46 */
				a_state = peer_localOk;
			:: a_state == peer_cancelRemoteOk -> /* cancelRemoteOk CANCEL, specs/confirm/spec.yaml:67 */
				assert(nfull(a_to_b)); a_to_b!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:67 */
				a_state = peer_cancelWaiting;
			:: a_state == peer_cancelCommitted -> /* cancelCommitted CANCEL, specs/confirm/spec.yaml:72 */
				assert(nfull(a_to_b)); a_to_b!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:72 */
				a_state = peer_cancelLocalOk;
			:: else ->
				assert(unspecified_reception); /* CANCEL is not handled */
			fi;
		:: m == CANCELACK ->
			if
			:: a_state == peer_cancelWaiting -> /* cancelWaiting CANCELACK, specs/confirm/spec.yaml:53 */
				a_state = peer_waiting;
			:: a_state == peer_cancelLocalOk -> /* cancelLocalOk CANCELACK, specs/confirm/spec.yaml:60 */
				assert(nfull(a_to_b)); a_to_b!CONFIRM1; /* CONFIRM1, specs/confirm/spec.yaml:60 */
				a_state = peer_localOk;
			:: a_state == peer_cancelRemoteOk -> /* cancelRemoteOk CANCELACK, specs/confirm/spec.yaml:68 */
				a_state = peer_remoteOk;
			:: a_state == peer_cancelCommitted -> /* cancelCommitted CANCELACK, specs/confirm/spec.yaml:73 */
				assert(nfull(a_to_b)); a_to_b!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:73 */
				a_state = peer_committed;
			:: else ->
				assert(unspecified_reception); /* CANCELACK is not handled */
			fi;
		:: m == CHANGE ->
			b_to_a_CHANGE = b_to_a_CHANGE - 1;
			if
			:: a_state == peer_waiting /* waiting CHANGE, specs/confirm/spec.yaml:31 */
			:: a_state == peer_localOk -> /* localOk CHANGE, specs/confirm/spec.yaml:37 */
				assert(nfull(a_to_b)); a_to_b!CANCEL; /* CANCEL, specs/confirm/spec.yaml:37 */
				a_state = peer_cancelWaiting;
			:: a_state == peer_cancelWaiting /* cancelWaiting CHANGE, specs/confirm/spec.yaml:54 */
			:: a_state == peer_cancelLocalOk -> /* cancelLocalOk CHANGE, specs/confirm/spec.yaml:61 */
				a_state = peer_cancelWaiting;
			:: else ->
				assert(unspecified_reception); /* CHANGE is not handled */
			fi;
		:: else -> assert(unspecified_reception)
		fi
		FORGET
	}
	:: false
	od
}

active proctype b()
{
end:
	do
	:: d_step { /* waiting confirm, specs/confirm/spec.yaml:28 */
		b_state == peer_waiting ->
		assert(nfull(b_to_a)); b_to_a!CONFIRM1; /* CONFIRM1, specs/confirm/spec.yaml:28 */
		b_state = peer_localOk;
		FORGET
	}
	:: d_step { /* remoteOk confirm, specs/confirm/spec.yaml:40 */
		b_state == peer_remoteOk ->
		assert(nfull(b_to_a)); b_to_a!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:40 */
		b_state = peer_committed;
		FORGET
	}
	:: d_step { /* cancelWaiting confirm, specs/confirm/spec.yaml:49 */
		b_state == peer_cancelWaiting ->
		b_state = peer_cancelLocalOk;
		FORGET
	}
	:: d_step { /* cancelRemoteOk confirm, specs/confirm/spec.yaml:64 */
		b_state == peer_cancelRemoteOk ->
		b_state = peer_cancelCommitted;
		FORGET
	}
	:: d_step { /* localOk cancel, specs/confirm/spec.yaml:34 */
		b_state == peer_localOk ->
		assert(nfull(b_to_a)); b_to_a!CANCEL; /* CANCEL, specs/confirm/spec.yaml:34 */
		b_state = peer_cancelWaiting;
		FORGET
	}
	:: d_step { /* cancelLocalOk cancel, specs/confirm/spec.yaml:57 */
		b_state == peer_cancelLocalOk ->
		b_state = peer_cancelWaiting;
		FORGET
	}
	:: d_step { /* waiting change, specs/confirm/spec.yaml:29 */
		b_state == peer_waiting && b_to_a_CHANGE < 2 ->
		assert(nfull(b_to_a)); b_to_a!CHANGE; b_to_a_CHANGE = b_to_a_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:29 */
		FORGET
	}
	:: d_step { /* remoteOk change, specs/confirm/spec.yaml:41 */
		b_state == peer_remoteOk && b_to_a_CHANGE < 2 ->
		assert(nfull(b_to_a)); b_to_a!CHANGE; b_to_a_CHANGE = b_to_a_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:41 */
		FORGET
	}
	:: d_step { /* cancelWaiting change, specs/confirm/spec.yaml:50 */
		b_state == peer_cancelWaiting && b_to_a_CHANGE < 2 ->
		assert(nfull(b_to_a)); b_to_a!CHANGE; b_to_a_CHANGE = b_to_a_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:50 */
		FORGET
	}
	:: d_step { /* cancelRemoteOk change, specs/confirm/spec.yaml:65 */
		b_state == peer_cancelRemoteOk && b_to_a_CHANGE < 2 ->
		assert(nfull(b_to_a)); b_to_a!CHANGE; b_to_a_CHANGE = b_to_a_CHANGE + 1; /* CHANGE, specs/confirm/spec.yaml:65 */
		FORGET
	}
	:: d_step { /* a message from a */
		len(a_to_b) > 0 ->
		a_to_b?m;
		if
		:: m == CONFIRM1 ->
			if
			:: b_state == peer_waiting -> /* waiting CONFIRM1, specs/confirm/spec.yaml:30 */
				b_state = peer_remoteOk;
			:: b_state == peer_localOk -> /* localOk CONFIRM1, specs/confirm/spec.yaml:35 */
				assert(nfull(b_to_a)); b_to_a!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:35 */
				b_state = peer_committed;
			:: b_state == peer_cancelWaiting -> /* cancelWaiting CONFIRM1, specs/confirm/spec.yaml:51 */
				b_state = peer_cancelRemoteOk;
			:: b_state == peer_cancelLocalOk -> /* cancelLocalOk CONFIRM1, specs/confirm/spec.yaml:58 */
				b_state = peer_cancelCommitted;
			:: else ->
				assert(unspecified_reception); /* CONFIRM1 is not handled */
			fi;
		:: m == CONFIRM2 ->
			if
			:: b_state == peer_localOk -> /* localOk CONFIRM2, specs/confirm/spec.yaml:36 */
				assert(nfull(b_to_a)); b_to_a!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:36 */
				b_state = peer_done;
			:: b_state == peer_committed -> /* committed CONFIRM2, specs/confirm/spec.yaml:45 */
				b_state = peer_done;
			:: b_state == peer_cancelWaiting -> /* cancelWaiting CONFIRM2, specs/confirm/spec.yaml:52 */
				b_state = peer_cancelRemoteOk;
			:: b_state == peer_cancelLocalOk -> /* cancelLocalOk CONFIRM2, specs/confirm/spec.yaml:59 */
				b_state = peer_cancelCommitted;
			:: b_state == peer_cancelRemoteOk || b_state == peer_cancelCommitted /* cancelRemoteOk CONFIRM2, specs/confirm/spec.yaml:66; cancelCommitted CONFIRM2, specs/confirm/spec.yaml:71 */
			:: else ->
				assert(unspecified_reception); /* CONFIRM2 is not handled */
			fi;
		:: m == CANCEL ->
			if
			:: b_state == peer_remoteOk -> /* remoteOk CANCEL, specs/confirm/spec.yaml:42 */
				assert(nfull(b_to_a)); b_to_a!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:42 */
				b_state = peer_waiting;
			:: b_state == peer_committed -> /* committed CANCEL, specs/confirm/spec.yaml:46 */
				assert(nfull(b_to_a)); b_to_a!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:46 */
				b_state = peer_localOk;
			:: b_state == peer_cancelRemoteOk -> /* cancelRemoteOk CANCEL, specs/confirm/spec.yaml:67 */
				assert(nfull(b_to_a)); b_to_a!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:67 */
				b_state = peer_cancelWaiting;
			:: b_state == peer_cancelCommitted -> /* cancelCommitted CANCEL, specs/confirm/spec.yaml:72 */
				assert(nfull(b_to_a)); b_to_a!CANCELACK; /* CANCELACK, specs/confirm/spec.yaml:72 */
				b_state = peer_cancelLocalOk;
			:: else ->
				assert(unspecified_reception); /* CANCEL is not handled */
			fi;
		:: m == CANCELACK ->
			if
			:: b_state == peer_cancelWaiting -> /* cancelWaiting CANCELACK, specs/confirm/spec.yaml:53 */
				b_state = peer_waiting;
			:: b_state == peer_cancelLocalOk -> /* cancelLocalOk CANCELACK, specs/confirm/spec.yaml:60 */
				assert(nfull(b_to_a)); b_to_a!CONFIRM1; /* CONFIRM1, specs/confirm/spec.yaml:60 */
				b_state = peer_localOk;
			:: b_state == peer_cancelRemoteOk -> /* cancelRemoteOk CANCELACK, specs/confirm/spec.yaml:68 */
				b_state = peer_remoteOk;
			:: b_state == peer_cancelCommitted -> /* cancelCommitted CANCELACK, specs/confirm/spec.yaml:73 */
				assert(nfull(b_to_a)); b_to_a!CONFIRM2; /* CONFIRM2, specs/confirm/spec.yaml:73 */
				b_state = peer_committed;
			:: else ->
				assert(unspecified_reception); /* CANCELACK is not handled */
			fi;
		:: m == CHANGE ->
			a_to_b_CHANGE = a_to_b_CHANGE - 1;
			if
			:: b_state == peer_waiting /* waiting CHANGE, specs/confirm/spec.yaml:31 */
			:: b_state == peer_localOk -> /* localOk CHANGE, specs/confirm/spec.yaml:37 */
				assert(nfull(b_to_a)); b_to_a!CANCEL; /* CANCEL, specs/confirm/spec.yaml:37 */
				b_state = peer_cancelWaiting;
			:: b_state == peer_cancelWaiting /* cancelWaiting CHANGE, specs/confirm/spec.yaml:54 */
			:: b_state == peer_cancelLocalOk -> /* cancelLocalOk CHANGE, specs/confirm/spec.yaml:61 */
				b_state = peer_cancelWaiting;
			:: else ->
				assert(unspecified_reception); /* CHANGE is not handled */
			fi;
		:: else -> assert(unspecified_reception)
		fi
		FORGET
	}
	:: false
	od
}

active proctype claims()
{
end:
	do
	:: d_step { timeout && !(a_state == peer_done && (b_state == peer_done)) -> assert(deadlock) } /* something is possible, or all have ended */
	:: d_step { timeout && !(!(a_state == peer_done && (b_state == peer_done)) || len(a_to_b) == 0 && (len(b_to_a) == 0)) -> assert(orphan_message) } /* no message is left when all have ended */
	#ifdef SHOW_both_done
	:: d_step { a_state == peer_done && (b_state == peer_done) -> assert(both_done) } /* the phase can be ended */
	#endif
	:: d_step { !(!(a_state == peer_done && (b_state == peer_done)) || len(a_to_b) + len(b_to_a) == 0) -> assert(clean_end) } /* no message of this phase is left over for the next one */
	:: d_step { !(!(a_state == peer_done && (len(a_to_b) + len(b_to_a) == 0)) || b_state == peer_done) -> assert(no_lone_end) } /* a side that has ended does not leave the other behind */
	:: d_step { !(a_state != peer_done || a_to_b_CHANGE + b_to_a_CHANGE == 0) -> assert(no_late_change) } /* nothing changes any more when the first side has ended the phase */
	:: false
	od
}
