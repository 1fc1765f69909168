/* setup, check all: each side changes everything, one property
   Written by fsmgen from specs/setup/spec.yaml, specs/confirm/spec.yaml, specs/update/spec.yaml; the specification is the law, not this file.

   spin -o2 -a FILE && cc -O3 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000 -w25

   visits the configurations that fsmgen check visits, each once: "states, stored" is its number of configurations.
   (-o2 keeps Spin from leaving out variables that nothing reads. A depth -m that is too small drops states; Spin says so.) A failed assertion is named like the claim.
   For two cores and more: spin -DCORES -o2 -a FILE, and cc with -DNCORE=2.
   both_done is a claim that something happens: with spin -DSHOW_both_done -o2 -a the assertion fails where it does.
   Not in this model, claim can-end: that something can be reached from everywhere is no assertion.
*/

mtype = { CONFIRM1, CONFIRM2, CANCEL, CANCELACK, CHANGE };
#define peer_settingUp 0
#define peer_done 1
#define confirm_waiting 0
#define confirm_localOk 1
#define confirm_remoteOk 2
#define confirm_committed 3
#define confirm_cancelWaiting 4
#define confirm_cancelLocalOk 5
#define confirm_cancelRemoteOk 6
#define confirm_cancelCommitted 7
#define confirm_done 8
#define update_settled 0
#define update_open 1
#define update_changed 2

chan a_to_b = [8] of { mtype, bool, bool };
chan b_to_a = [8] of { mtype, bool, bool };

/* a is a peer(index: 0) */
bool a_state = peer_settingUp;
byte a_confirm_state = confirm_waiting;
byte a_update_0_state = update_settled;
bool a_update_0_own; /* the value as it is here */
bool a_update_0_sent_is; /* whether there is one */
bool a_update_0_sent; /* what was sent in the turn that is open */

/* b is a peer(index: 1) */
bool b_state = peer_settingUp;
byte b_confirm_state = confirm_waiting;
byte b_update_0_state = update_settled;
bool b_update_0_own; /* the value as it is here */
bool b_update_0_sent_is; /* whether there is one */
bool b_update_0_sent; /* what was sent in the turn that is open */

/* what lives inside a step only, and what assertions that fail are named; no part of a state: for several
   cores, where Spin hides nothing, each step forgets it */
#ifdef CORES
#define HIDDEN
#define FORGET ; m = 0; m_property = 0; m_value = 0; t0 = 0; t1 = 0; t2 = 0; t3 = 0; t4 = 0; t5 = 0; t6 = 0
#else
#define HIDDEN hidden
#define FORGET
#endif
HIDDEN mtype m;
HIDDEN byte m_property;
HIDDEN byte m_value;
HIDDEN int t0;
HIDDEN int t1;
HIDDEN int t2;
HIDDEN int t3;
HIDDEN int t4;
HIDDEN int t5;
HIDDEN int t6;
HIDDEN byte unspecified_reception;
HIDDEN byte fault;
HIDDEN byte deadlock;
HIDDEN byte orphan_message;
HIDDEN byte both_done;
HIDDEN byte clean_end;
HIDDEN byte same_values;
HIDDEN byte no_open_turn;

active proctype a()
{
end:
	do
	:: d_step { /* settingUp confirm, specs/setup/spec.yaml:53 */
		a_state == peer_settingUp && (a_confirm_state == confirm_waiting || a_confirm_state == confirm_remoteOk || a_confirm_state == confirm_cancelWaiting || a_confirm_state == confirm_cancelRemoteOk) ->
		if
		:: a_confirm_state == confirm_waiting -> /* waiting confirm, specs/confirm/spec.yaml:28 */
			assert(nfull(a_to_b)); a_to_b!CONFIRM1,0,0; /* CONFIRM1, specs/confirm/spec.yaml:28 */
			a_confirm_state = confirm_localOk;
		:: a_confirm_state == confirm_remoteOk -> /* remoteOk confirm, specs/confirm/spec.yaml:40 */
			assert(nfull(a_to_b)); a_to_b!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:40 */
			a_confirm_state = confirm_committed;
		:: a_confirm_state == confirm_cancelWaiting -> /* cancelWaiting confirm, specs/confirm/spec.yaml:49 */
			a_confirm_state = confirm_cancelLocalOk;
		:: a_confirm_state == confirm_cancelRemoteOk -> /* cancelRemoteOk confirm, specs/confirm/spec.yaml:64 */
			a_confirm_state = confirm_cancelCommitted;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* settingUp cancel, specs/setup/spec.yaml:54 */
		a_state == peer_settingUp && (a_confirm_state == confirm_localOk || a_confirm_state == confirm_cancelLocalOk) ->
		if
		:: a_confirm_state == confirm_localOk -> /* localOk cancel, specs/confirm/spec.yaml:34 */
			assert(nfull(a_to_b)); a_to_b!CANCEL,0,0; /* CANCEL, specs/confirm/spec.yaml:34 */
			a_confirm_state = confirm_cancelWaiting;
		:: a_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk cancel, specs/confirm/spec.yaml:57 */
			a_confirm_state = confirm_cancelWaiting;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* settingUp change{property: 0, value: 0}, specs/setup/spec.yaml:55 */
		a_state == peer_settingUp && (a_update_0_own && (a_update_0_state != update_settled || len(a_to_b) < 2)) && ((a_confirm_state == confirm_waiting || a_confirm_state == confirm_remoteOk || a_confirm_state == confirm_cancelWaiting || a_confirm_state == confirm_cancelRemoteOk) && (a_update_0_state == update_settled || a_update_0_state == update_open && a_update_0_own || a_update_0_state == update_changed && ((a_update_0_sent_is && !a_update_0_sent) || !(a_update_0_sent_is && !a_update_0_sent) && (!(a_update_0_sent_is && !a_update_0_sent) && a_update_0_own)))) ->
		if
		:: a_update_0_state == update_settled -> /* settled change, specs/update/spec.yaml:32 */
			a_update_0_own = 0;
			a_update_0_sent_is = 1;
			a_update_0_sent = 0;
			assert(nfull(a_to_b)); a_to_b!CHANGE,0,0; /* CHANGE, specs/update/spec.yaml:32 */
			a_update_0_state = update_open;
		:: a_update_0_state == update_open -> /* open change, specs/update/spec.yaml:36 */
			if
			:: a_update_0_own -> /* open change, specs/update/spec.yaml:36 */
				a_update_0_own = 0;
				a_update_0_state = update_changed;
			:: else
			fi;
		:: a_update_0_state == update_changed -> /* changed change/1, specs/update/spec.yaml:43 */
			if
			:: a_update_0_sent_is && !a_update_0_sent -> /* changed change/1, specs/update/spec.yaml:43 */
				a_update_0_own = 0;
				a_update_0_state = update_open;
			:: else ->
				if
				:: !(a_update_0_sent_is && !a_update_0_sent) && a_update_0_own -> /* changed change/2, specs/update/spec.yaml:44 */
					a_update_0_own = 0;
				:: else
				fi;
			fi;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* settingUp change{property: 0, value: 1}, specs/setup/spec.yaml:55 */
		a_state == peer_settingUp && (!a_update_0_own && (a_update_0_state != update_settled || len(a_to_b) < 2)) && ((a_confirm_state == confirm_waiting || a_confirm_state == confirm_remoteOk || a_confirm_state == confirm_cancelWaiting || a_confirm_state == confirm_cancelRemoteOk) && (a_update_0_state == update_settled || a_update_0_state == update_open && !a_update_0_own || a_update_0_state == update_changed && ((a_update_0_sent_is && a_update_0_sent) || !(a_update_0_sent_is && a_update_0_sent) && (!(a_update_0_sent_is && a_update_0_sent) && !a_update_0_own)))) ->
		if
		:: a_update_0_state == update_settled -> /* settled change, specs/update/spec.yaml:32 */
			a_update_0_own = 1;
			a_update_0_sent_is = 1;
			a_update_0_sent = 1;
			assert(nfull(a_to_b)); a_to_b!CHANGE,0,1; /* CHANGE, specs/update/spec.yaml:32 */
			a_update_0_state = update_open;
		:: a_update_0_state == update_open -> /* open change, specs/update/spec.yaml:36 */
			if
			:: !a_update_0_own -> /* open change, specs/update/spec.yaml:36 */
				a_update_0_own = 1;
				a_update_0_state = update_changed;
			:: else
			fi;
		:: a_update_0_state == update_changed -> /* changed change/1, specs/update/spec.yaml:43 */
			if
			:: a_update_0_sent_is && a_update_0_sent -> /* changed change/1, specs/update/spec.yaml:43 */
				a_update_0_own = 1;
				a_update_0_state = update_open;
			:: else ->
				if
				:: !(a_update_0_sent_is && a_update_0_sent) && !a_update_0_own -> /* changed change/2, specs/update/spec.yaml:44 */
					a_update_0_own = 1;
				:: else
				fi;
			fi;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* a message from b */
		len(b_to_a) > 0 ->
		b_to_a?m,m_property,m_value;
		if
		:: m == CONFIRM1 ->
			if
			:: a_state == peer_settingUp -> /* settingUp CONFIRM1, specs/setup/spec.yaml:56 */
				if
				:: a_confirm_state == confirm_waiting -> /* waiting CONFIRM1, specs/confirm/spec.yaml:30 */
					a_confirm_state = confirm_remoteOk;
				:: a_confirm_state == confirm_localOk -> /* localOk CONFIRM1, specs/confirm/spec.yaml:35 */
					assert(nfull(a_to_b)); a_to_b!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:35 */
					a_confirm_state = confirm_committed;
				:: a_confirm_state == confirm_cancelWaiting -> /* cancelWaiting CONFIRM1, specs/confirm/spec.yaml:51 */
					a_confirm_state = confirm_cancelRemoteOk;
				:: a_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CONFIRM1, specs/confirm/spec.yaml:58 */
					a_confirm_state = confirm_cancelCommitted;
				:: else ->
					assert(unspecified_reception); /* CONFIRM1 is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CONFIRM1 is not handled */
			fi;
		:: m == CONFIRM2 ->
			if
			:: a_state == peer_settingUp -> /* settingUp CONFIRM2, specs/setup/spec.yaml:56 */
				t0 = 0;
				t1 = 0;
				if
				:: a_confirm_state == confirm_localOk -> /* localOk CONFIRM2, specs/confirm/spec.yaml:36 */
					assert(nfull(a_to_b)); a_to_b!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:36 */
					a_confirm_state = confirm_done;
					t0 = 1;
				:: a_confirm_state == confirm_committed -> /* committed CONFIRM2, specs/confirm/spec.yaml:45 */
					a_confirm_state = confirm_done;
					t1 = 1;
				:: a_confirm_state == confirm_cancelWaiting -> /* cancelWaiting CONFIRM2, specs/confirm/spec.yaml:52 */
					a_confirm_state = confirm_cancelRemoteOk;
				:: a_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CONFIRM2, specs/confirm/spec.yaml:59 */
					a_confirm_state = confirm_cancelCommitted;
				:: a_confirm_state == confirm_cancelRemoteOk || a_confirm_state == confirm_cancelCommitted /* cancelRemoteOk CONFIRM2, specs/confirm/spec.yaml:66; cancelCommitted CONFIRM2, specs/confirm/spec.yaml:71 */
				:: else ->
					assert(unspecified_reception); /* CONFIRM2 is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CONFIRM2 is not handled */
			fi;
			if
			:: t0 -> /* confirm.finished */
				a_state = peer_done;
			:: else
			fi;
			if
			:: t1 -> /* confirm.finished */
				if
				:: a_state == peer_settingUp -> /* settingUp confirm.finished, specs/setup/spec.yaml:60 */
					a_state = peer_done;
				:: else ->
					assert(unspecified_reception); /* confirm.finished is not handled */
				fi;
			:: else
			fi;
		:: m == CANCEL ->
			if
			:: a_state == peer_settingUp -> /* settingUp CANCEL, specs/setup/spec.yaml:56 */
				if
				:: a_confirm_state == confirm_remoteOk -> /* remoteOk CANCEL, specs/confirm/spec.yaml:42 */
					assert(nfull(a_to_b)); a_to_b!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:42 */
					a_confirm_state = confirm_waiting;
				:: a_confirm_state == confirm_committed -> /* committed CANCEL, specs/confirm/spec.yaml:46 */
					assert(nfull(a_to_b)); a_to_b!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:46 */
					a_confirm_state = confirm_localOk;
				:: a_confirm_state == confirm_cancelRemoteOk -> /* cancelRemoteOk CANCEL, specs/confirm/spec.yaml:67 */
					assert(nfull(a_to_b)); a_to_b!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:67 */
					a_confirm_state = confirm_cancelWaiting;
				:: a_confirm_state == confirm_cancelCommitted -> /* cancelCommitted CANCEL, specs/confirm/spec.yaml:72 */
					assert(nfull(a_to_b)); a_to_b!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:72 */
					a_confirm_state = confirm_cancelLocalOk;
				:: else ->
					assert(unspecified_reception); /* CANCEL is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CANCEL is not handled */
			fi;
		:: m == CANCELACK ->
			if
			:: a_state == peer_settingUp -> /* settingUp CANCELACK, specs/setup/spec.yaml:56 */
				if
				:: a_confirm_state == confirm_cancelWaiting -> /* cancelWaiting CANCELACK, specs/confirm/spec.yaml:53 */
					a_confirm_state = confirm_waiting;
				:: a_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CANCELACK, specs/confirm/spec.yaml:60 */
					assert(nfull(a_to_b)); a_to_b!CONFIRM1,0,0; /* CONFIRM1, specs/confirm/spec.yaml:60 */
					a_confirm_state = confirm_localOk;
				:: a_confirm_state == confirm_cancelRemoteOk -> /* cancelRemoteOk CANCELACK, specs/confirm/spec.yaml:68 */
					a_confirm_state = confirm_remoteOk;
				:: a_confirm_state == confirm_cancelCommitted -> /* cancelCommitted CANCELACK, specs/confirm/spec.yaml:73 */
					assert(nfull(a_to_b)); a_to_b!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:73 */
					a_confirm_state = confirm_committed;
				:: else ->
					assert(unspecified_reception); /* CANCELACK is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CANCELACK is not handled */
			fi;
		:: m == CHANGE ->
			if
			:: a_state == peer_settingUp -> /* settingUp CHANGE, specs/setup/spec.yaml:57 */
				if
				:: a_confirm_state == confirm_waiting /* waiting CHANGE, specs/confirm/spec.yaml:31 */
				:: a_confirm_state == confirm_localOk -> /* localOk CHANGE, specs/confirm/spec.yaml:37 */
					assert(nfull(a_to_b)); a_to_b!CANCEL,0,0; /* CANCEL, specs/confirm/spec.yaml:37 */
					a_confirm_state = confirm_cancelWaiting;
				:: a_confirm_state == confirm_cancelWaiting /* cancelWaiting CHANGE, specs/confirm/spec.yaml:54 */
				:: a_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CHANGE, specs/confirm/spec.yaml:61 */
					a_confirm_state = confirm_cancelWaiting;
				:: else ->
					assert(unspecified_reception); /* CHANGE is not handled */
				fi;
				if
				:: !m_property ->
					if
					:: a_update_0_state == update_settled -> /* settled UPDATE, specs/update/spec.yaml:33 */
						a_update_0_own = m_value;
						assert(nfull(a_to_b)); a_to_b!CHANGE,0,m_value; /* CHANGE, specs/update/spec.yaml:33 */
					:: a_update_0_state == update_open -> /* open UPDATE/1, specs/update/spec.yaml:38 */
						a_update_0_sent_is = 0;
						a_update_0_sent = 0;
						a_update_0_state = update_settled;
					:: a_update_0_state == update_changed -> /* changed UPDATE/1, specs/update/spec.yaml:46 */
						a_update_0_sent_is = 1;
						a_update_0_sent = a_update_0_own;
						assert(nfull(a_to_b)); a_to_b!CHANGE,0,a_update_0_own; /* CHANGE, specs/update/spec.yaml:46 */
						a_update_0_state = update_open;
					:: else ->
						assert(unspecified_reception); /* UPDATE is not handled */
					fi;
				:: else ->
					assert(fault); /* no instance of part update */
				fi;
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
	:: d_step { /* settingUp confirm, specs/setup/spec.yaml:53 */
		b_state == peer_settingUp && (b_confirm_state == confirm_waiting || b_confirm_state == confirm_remoteOk || b_confirm_state == confirm_cancelWaiting || b_confirm_state == confirm_cancelRemoteOk) ->
		if
		:: b_confirm_state == confirm_waiting -> /* waiting confirm, specs/confirm/spec.yaml:28 */
			assert(nfull(b_to_a)); b_to_a!CONFIRM1,0,0; /* CONFIRM1, specs/confirm/spec.yaml:28 */
			b_confirm_state = confirm_localOk;
		:: b_confirm_state == confirm_remoteOk -> /* remoteOk confirm, specs/confirm/spec.yaml:40 */
			assert(nfull(b_to_a)); b_to_a!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:40 */
			b_confirm_state = confirm_committed;
		:: b_confirm_state == confirm_cancelWaiting -> /* cancelWaiting confirm, specs/confirm/spec.yaml:49 */
			b_confirm_state = confirm_cancelLocalOk;
		:: b_confirm_state == confirm_cancelRemoteOk -> /* cancelRemoteOk confirm, specs/confirm/spec.yaml:64 */
			b_confirm_state = confirm_cancelCommitted;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* settingUp cancel, specs/setup/spec.yaml:54 */
		b_state == peer_settingUp && (b_confirm_state == confirm_localOk || b_confirm_state == confirm_cancelLocalOk) ->
		if
		:: b_confirm_state == confirm_localOk -> /* localOk cancel, specs/confirm/spec.yaml:34 */
			assert(nfull(b_to_a)); b_to_a!CANCEL,0,0; /* CANCEL, specs/confirm/spec.yaml:34 */
			b_confirm_state = confirm_cancelWaiting;
		:: b_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk cancel, specs/confirm/spec.yaml:57 */
			b_confirm_state = confirm_cancelWaiting;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* settingUp change{property: 0, value: 0}, specs/setup/spec.yaml:55 */
		b_state == peer_settingUp && (b_update_0_own && (b_update_0_state != update_settled || len(b_to_a) < 2)) && ((b_confirm_state == confirm_waiting || b_confirm_state == confirm_remoteOk || b_confirm_state == confirm_cancelWaiting || b_confirm_state == confirm_cancelRemoteOk) && (b_update_0_state == update_settled || b_update_0_state == update_open && b_update_0_own || b_update_0_state == update_changed && ((b_update_0_sent_is && !b_update_0_sent) || !(b_update_0_sent_is && !b_update_0_sent) && (!(b_update_0_sent_is && !b_update_0_sent) && b_update_0_own)))) ->
		if
		:: b_update_0_state == update_settled -> /* settled change, specs/update/spec.yaml:32 */
			b_update_0_own = 0;
			b_update_0_sent_is = 1;
			b_update_0_sent = 0;
			assert(nfull(b_to_a)); b_to_a!CHANGE,0,0; /* CHANGE, specs/update/spec.yaml:32 */
			b_update_0_state = update_open;
		:: b_update_0_state == update_open -> /* open change, specs/update/spec.yaml:36 */
			if
			:: b_update_0_own -> /* open change, specs/update/spec.yaml:36 */
				b_update_0_own = 0;
				b_update_0_state = update_changed;
			:: else
			fi;
		:: b_update_0_state == update_changed -> /* changed change/1, specs/update/spec.yaml:43 */
			if
			:: b_update_0_sent_is && !b_update_0_sent -> /* changed change/1, specs/update/spec.yaml:43 */
				b_update_0_own = 0;
				b_update_0_state = update_open;
			:: else ->
				if
				:: !(b_update_0_sent_is && !b_update_0_sent) && b_update_0_own -> /* changed change/2, specs/update/spec.yaml:44 */
					b_update_0_own = 0;
				:: else
				fi;
			fi;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* settingUp change{property: 0, value: 1}, specs/setup/spec.yaml:55 */
		b_state == peer_settingUp && (!b_update_0_own && (b_update_0_state != update_settled || len(b_to_a) < 2)) && ((b_confirm_state == confirm_waiting || b_confirm_state == confirm_remoteOk || b_confirm_state == confirm_cancelWaiting || b_confirm_state == confirm_cancelRemoteOk) && (b_update_0_state == update_settled || b_update_0_state == update_open && !b_update_0_own || b_update_0_state == update_changed && ((b_update_0_sent_is && b_update_0_sent) || !(b_update_0_sent_is && b_update_0_sent) && (!(b_update_0_sent_is && b_update_0_sent) && !b_update_0_own)))) ->
		if
		:: b_update_0_state == update_settled -> /* settled change, specs/update/spec.yaml:32 */
			b_update_0_own = 1;
			b_update_0_sent_is = 1;
			b_update_0_sent = 1;
			assert(nfull(b_to_a)); b_to_a!CHANGE,0,1; /* CHANGE, specs/update/spec.yaml:32 */
			b_update_0_state = update_open;
		:: b_update_0_state == update_open -> /* open change, specs/update/spec.yaml:36 */
			if
			:: !b_update_0_own -> /* open change, specs/update/spec.yaml:36 */
				b_update_0_own = 1;
				b_update_0_state = update_changed;
			:: else
			fi;
		:: b_update_0_state == update_changed -> /* changed change/1, specs/update/spec.yaml:43 */
			if
			:: b_update_0_sent_is && b_update_0_sent -> /* changed change/1, specs/update/spec.yaml:43 */
				b_update_0_own = 1;
				b_update_0_state = update_open;
			:: else ->
				if
				:: !(b_update_0_sent_is && b_update_0_sent) && !b_update_0_own -> /* changed change/2, specs/update/spec.yaml:44 */
					b_update_0_own = 1;
				:: else
				fi;
			fi;
		:: else
		fi;
		FORGET
	}
	:: d_step { /* a message from a */
		len(a_to_b) > 0 ->
		a_to_b?m,m_property,m_value;
		if
		:: m == CONFIRM1 ->
			if
			:: b_state == peer_settingUp -> /* settingUp CONFIRM1, specs/setup/spec.yaml:56 */
				if
				:: b_confirm_state == confirm_waiting -> /* waiting CONFIRM1, specs/confirm/spec.yaml:30 */
					b_confirm_state = confirm_remoteOk;
				:: b_confirm_state == confirm_localOk -> /* localOk CONFIRM1, specs/confirm/spec.yaml:35 */
					assert(nfull(b_to_a)); b_to_a!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:35 */
					b_confirm_state = confirm_committed;
				:: b_confirm_state == confirm_cancelWaiting -> /* cancelWaiting CONFIRM1, specs/confirm/spec.yaml:51 */
					b_confirm_state = confirm_cancelRemoteOk;
				:: b_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CONFIRM1, specs/confirm/spec.yaml:58 */
					b_confirm_state = confirm_cancelCommitted;
				:: else ->
					assert(unspecified_reception); /* CONFIRM1 is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CONFIRM1 is not handled */
			fi;
		:: m == CONFIRM2 ->
			if
			:: b_state == peer_settingUp -> /* settingUp CONFIRM2, specs/setup/spec.yaml:56 */
				t0 = 0;
				t1 = 0;
				if
				:: b_confirm_state == confirm_localOk -> /* localOk CONFIRM2, specs/confirm/spec.yaml:36 */
					assert(nfull(b_to_a)); b_to_a!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:36 */
					b_confirm_state = confirm_done;
					t0 = 1;
				:: b_confirm_state == confirm_committed -> /* committed CONFIRM2, specs/confirm/spec.yaml:45 */
					b_confirm_state = confirm_done;
					t1 = 1;
				:: b_confirm_state == confirm_cancelWaiting -> /* cancelWaiting CONFIRM2, specs/confirm/spec.yaml:52 */
					b_confirm_state = confirm_cancelRemoteOk;
				:: b_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CONFIRM2, specs/confirm/spec.yaml:59 */
					b_confirm_state = confirm_cancelCommitted;
				:: b_confirm_state == confirm_cancelRemoteOk || b_confirm_state == confirm_cancelCommitted /* cancelRemoteOk CONFIRM2, specs/confirm/spec.yaml:66; cancelCommitted CONFIRM2, specs/confirm/spec.yaml:71 */
				:: else ->
					assert(unspecified_reception); /* CONFIRM2 is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CONFIRM2 is not handled */
			fi;
			if
			:: t0 -> /* confirm.finished */
				b_state = peer_done;
			:: else
			fi;
			if
			:: t1 -> /* confirm.finished */
				if
				:: b_state == peer_settingUp -> /* settingUp confirm.finished, specs/setup/spec.yaml:60 */
					b_state = peer_done;
				:: else ->
					assert(unspecified_reception); /* confirm.finished is not handled */
				fi;
			:: else
			fi;
		:: m == CANCEL ->
			if
			:: b_state == peer_settingUp -> /* settingUp CANCEL, specs/setup/spec.yaml:56 */
				if
				:: b_confirm_state == confirm_remoteOk -> /* remoteOk CANCEL, specs/confirm/spec.yaml:42 */
					assert(nfull(b_to_a)); b_to_a!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:42 */
					b_confirm_state = confirm_waiting;
				:: b_confirm_state == confirm_committed -> /* committed CANCEL, specs/confirm/spec.yaml:46 */
					assert(nfull(b_to_a)); b_to_a!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:46 */
					b_confirm_state = confirm_localOk;
				:: b_confirm_state == confirm_cancelRemoteOk -> /* cancelRemoteOk CANCEL, specs/confirm/spec.yaml:67 */
					assert(nfull(b_to_a)); b_to_a!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:67 */
					b_confirm_state = confirm_cancelWaiting;
				:: b_confirm_state == confirm_cancelCommitted -> /* cancelCommitted CANCEL, specs/confirm/spec.yaml:72 */
					assert(nfull(b_to_a)); b_to_a!CANCELACK,0,0; /* CANCELACK, specs/confirm/spec.yaml:72 */
					b_confirm_state = confirm_cancelLocalOk;
				:: else ->
					assert(unspecified_reception); /* CANCEL is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CANCEL is not handled */
			fi;
		:: m == CANCELACK ->
			if
			:: b_state == peer_settingUp -> /* settingUp CANCELACK, specs/setup/spec.yaml:56 */
				if
				:: b_confirm_state == confirm_cancelWaiting -> /* cancelWaiting CANCELACK, specs/confirm/spec.yaml:53 */
					b_confirm_state = confirm_waiting;
				:: b_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CANCELACK, specs/confirm/spec.yaml:60 */
					assert(nfull(b_to_a)); b_to_a!CONFIRM1,0,0; /* CONFIRM1, specs/confirm/spec.yaml:60 */
					b_confirm_state = confirm_localOk;
				:: b_confirm_state == confirm_cancelRemoteOk -> /* cancelRemoteOk CANCELACK, specs/confirm/spec.yaml:68 */
					b_confirm_state = confirm_remoteOk;
				:: b_confirm_state == confirm_cancelCommitted -> /* cancelCommitted CANCELACK, specs/confirm/spec.yaml:73 */
					assert(nfull(b_to_a)); b_to_a!CONFIRM2,0,0; /* CONFIRM2, specs/confirm/spec.yaml:73 */
					b_confirm_state = confirm_committed;
				:: else ->
					assert(unspecified_reception); /* CANCELACK is not handled */
				fi;
			:: else ->
				assert(unspecified_reception); /* CANCELACK is not handled */
			fi;
		:: m == CHANGE ->
			if
			:: b_state == peer_settingUp -> /* settingUp CHANGE, specs/setup/spec.yaml:57 */
				if
				:: b_confirm_state == confirm_waiting /* waiting CHANGE, specs/confirm/spec.yaml:31 */
				:: b_confirm_state == confirm_localOk -> /* localOk CHANGE, specs/confirm/spec.yaml:37 */
					assert(nfull(b_to_a)); b_to_a!CANCEL,0,0; /* CANCEL, specs/confirm/spec.yaml:37 */
					b_confirm_state = confirm_cancelWaiting;
				:: b_confirm_state == confirm_cancelWaiting /* cancelWaiting CHANGE, specs/confirm/spec.yaml:54 */
				:: b_confirm_state == confirm_cancelLocalOk -> /* cancelLocalOk CHANGE, specs/confirm/spec.yaml:61 */
					b_confirm_state = confirm_cancelWaiting;
				:: else ->
					assert(unspecified_reception); /* CHANGE is not handled */
				fi;
				if
				:: !m_property ->
					if
					:: b_update_0_state == update_settled -> /* settled UPDATE, specs/update/spec.yaml:33 */
						b_update_0_own = m_value;
						assert(nfull(b_to_a)); b_to_a!CHANGE,0,m_value; /* CHANGE, specs/update/spec.yaml:33 */
					:: b_update_0_state == update_open -> /* open UPDATE/1, specs/update/spec.yaml:38 */
						if
						:: b_update_0_sent_is && (m_value == b_update_0_sent) -> /* open UPDATE/1, specs/update/spec.yaml:38 */
							b_update_0_sent_is = 0;
							b_update_0_sent = 0;
							b_update_0_state = update_settled;
						:: else ->
							b_update_0_own = m_value;
							b_update_0_sent_is = 0;
							b_update_0_sent = 0;
							b_update_0_state = update_settled;
						fi;
					:: b_update_0_state == update_changed -> /* changed UPDATE/1, specs/update/spec.yaml:46 */
						if
						:: b_update_0_sent_is && (m_value == b_update_0_sent) -> /* changed UPDATE/1, specs/update/spec.yaml:46 */
							b_update_0_sent = b_update_0_own;
							assert(nfull(b_to_a)); b_to_a!CHANGE,0,b_update_0_own; /* CHANGE, specs/update/spec.yaml:46 */
							b_update_0_state = update_open;
						:: else ->
							b_update_0_own = m_value;
							b_update_0_sent_is = 0;
							b_update_0_sent = 0;
							b_update_0_state = update_settled;
						fi;
					:: else ->
						assert(unspecified_reception); /* UPDATE is not handled */
					fi;
				:: else ->
					assert(fault); /* no instance of part update */
				fi;
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
	:: d_step { a_state == peer_done && (b_state == peer_done) -> assert(both_done) } /* the setup can be ended */
	#endif
	:: d_step { !(!(a_state == peer_done && (b_state == peer_done)) || len(a_to_b) + len(b_to_a) == 0) -> assert(clean_end) } /* no message of the setup is left over */
	:: d_step { !(!(a_state == peer_done && (b_state == peer_done)) || a_update_0_own == b_update_0_own) -> assert(same_values) } /* both sides agreed to the same values */
	:: d_step { !(a_state != peer_done || a_update_0_state == update_settled && (b_update_0_state == update_settled)) -> assert(no_open_turn) } /* no change is lost by the end */
	:: false
	od
}
