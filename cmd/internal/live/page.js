"use strict";
// The server sends, whenever something is different, the whole of what is shown of a record, and the chart. All texts
// go into the page as texts; the pictures are the server's own.

const cards = new Map();

function element(kind, name, text) {
  const e = document.createElement(kind);
  if (name) e.className = name;
  if (text !== undefined) e.textContent = text;
  return e;
}

function card(n) {
  if (cards.has(n)) return cards.get(n);
  const c = { root: element("section"), known: new Map(), seen: -1 };
  c.root.id = "record" + n;
  const head = element("h2");
  for (const name of ["name", "role", "state", "file", "count"]) {
    head.append(c["its" + name] = element("span", name), " ");
  }
  c.problem = element("p", "says bad");
  c.problem.setAttribute("role", "alert");
  c.note = element("p", "says");
  const sides = element("div", "sides"), right = element("div");
  c.picture = element("div", "picture");
  c.timersHead = element("h3", "", "running timers");
  c.timers = element("div", "timers");
  c.valuesHead = element("h3", "", "variables");
  c.values = element("table");
  c.steps = element("table");
  const values = element("div", "values"), steps = element("div", "steps");
  values.append(c.values);
  steps.append(c.steps);
  right.append(c.valuesHead, values, c.timersHead, c.timers, element("h3", "", "last steps, the newest first"), steps);
  sides.append(c.picture, right);
  c.root.append(head, c.problem, c.note, sides);
  const all = document.getElementById("records");
  const after = [...cards.keys()].filter(k => k > n).sort((a, b) => a - b)[0];
  all.insertBefore(c.root, after === undefined ? null : cards.get(after).root);
  cards.set(n, c);
  return c;
}

// mark shows in the picture where the machine is, and what it did last.
function mark(c) {
  const s = c.state, taken = new Set((s.taken || []).map(String));
  let shown = false; // as an edge; what stays is marked at the state, too
  for (const e of c.picture.querySelectorAll("[data-transitions]")) {
    const is = e.dataset.transitions.split(" ").some(t => taken.has(t));
    e.classList.toggle("taken", is);
    shown = shown || is && e.querySelector("path") !== null;
  }
  for (const e of c.picture.querySelectorAll("[data-state]")) {
    const now = Number(e.dataset.state) === s.control;
    e.classList.toggle("now", now);
    e.classList.toggle("stayed", now && taken.size > 0 && !shown);
    if (now && c.seen !== s.control) follow(c, e);
  }
}

// follow scrolls the picture to a state that is out of sight.
function follow(c, state) {
  c.seen = c.state.control;
  const box = c.picture.getBoundingClientRect(), at = state.getBoundingClientRect();
  if (at.top < box.top || at.bottom > box.bottom) {
    c.picture.scrollTop += (at.top + at.bottom - box.top - box.bottom) / 2;
  }
  if (at.left < box.left || at.right > box.right) {
    c.picture.scrollLeft += (at.left + at.right - box.left - box.right) / 2;
  }
}

function show(n, s) {
  const c = card(n);
  c.state = s;
  c.itsname.textContent = s.name;
  c.itsrole.textContent = s.role;
  c.itsstate.textContent = s.path;
  c.itsfile.textContent = s.file;
  c.itscount.textContent = s.total === 1 ? "1 step" : s.total + " steps";
  c.problem.textContent = s.problem;
  c.note.textContent = [s.note, s.half ? "the last line is not whole yet" : "", s.closed].filter(t => t).join("; ");
  const values = s.values || [], timers = s.timers || [], steps = s.steps || [];
  c.values.replaceChildren(...values.map(v => {
    const row = element("tr");
    if (c.known.has(v.name) && c.known.get(v.name) !== v.text) row.className = "changed";
    row.append(element("td", "", v.name), element("td", "", v.text));
    return row;
  }));
  c.known = new Map(values.map(v => [v.name, v.text]));
  c.valuesHead.hidden = values.length === 0;
  c.timersHead.hidden = timers.length === 0;
  c.timers.replaceChildren(...timers.map(t => element("span", "", t)));
  c.steps.replaceChildren(...steps.slice().reverse().map(x => {
    const row = element("tr", x.bad ? "bad" : "");
    const what = element("td", "", (x.kind === "message" ? "← " : x.kind + " ") + x.event + " ");
    if (x.move) what.append(element("span", "move", x.move));
    for (const e of x.effects || []) what.append(element("span", "effect", e));
    if (x.problem) what.append(element("span", "effect", x.problem));
    row.append(element("td", "", x.time + " s"), what);
    return row;
  }));
  document.title = [...cards.values()].map(k => (k.state.name || k.state.role) + ": " + k.state.path).join(", ");
  mark(c);
}

const link = document.getElementById("link");
const events = new EventSource("events");
events.onopen = () => { link.textContent = "following"; link.className = ""; };
events.onerror = () => {
  link.textContent = events.readyState === EventSource.CLOSED
    ? "the server refuses: too many pages are open, or it has ended; load this page again"
    : "no connection: the server has ended, or is busy; trying again …";
  link.className = "bad";
};
events.addEventListener("drawing", e => {
  const d = JSON.parse(e.data), c = card(d.record);
  c.picture.innerHTML = d.svg;
  c.seen = -1;
});
events.addEventListener("record", e => { const d = JSON.parse(e.data); show(d.record, d.state); });
events.addEventListener("chart", e => {
  const text = JSON.parse(e.data), box = document.getElementById("chart"), picture = box.querySelector(".picture");
  box.hidden = text === "";
  if (text.startsWith("<svg")) picture.innerHTML = text; else picture.textContent = text;
});
