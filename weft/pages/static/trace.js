// The trace's page: loads a trace, and connects the timeline with keys, the mouse and the panels.
"use strict";
import { Trace, duration } from "./columns.js";
import { Timeline, colorOf } from "./timeline.js";
import { make, ask } from "./make.js";

const element = id => document.getElementById(id);
const canvas = element("timeline"), tip = element("tip"), search = element("search");
const timeline = new Timeline(canvas, () => later(showCosts));
let trace, found = new Uint32Array(0), position = -1, timer = 0;

function later(action) { clearTimeout(timer); timer = setTimeout(action, 150); }

// ---- loading ----

async function load(isAgain) {
  const response = await ask("data");
  if (!response.ok) { element("about").textContent = response.status === 401 ? "a token is wanted: add ?token=… to the address" : "status " + response.status; return; }
  trace = new Trace(await response.arrayBuffer());
  timeline.show(trace, isAgain);
  const about = trace.about, silent = Object.keys(about.silent || {});
  element("about").textContent = `${about.title || ""} · ${trace.size.toLocaleString()} events · ${duration(trace.end)}` + (silent.length ? ` · no answer from ${silent.join(", ")}` : "");
  element("again").hidden = element("live-label").hidden = !about.live;
  if (search.value) find(); else select(-1);
  showCosts();
}

async function record() {
  element("again").disabled = true;
  const response = await ask("record", { method: "POST" });
  element("again").disabled = false;
  if (response.ok) await load(true); else element("about").textContent = await response.text();
  if (element("live").checked) setTimeout(record, 500);
}
element("again").onclick = record;
element("live").onchange = event => { if (event.target.checked) record(); };

// ---- what is selected ----

function select(event) {
  timeline.select(event);
  const panel = element("selected");
  if (event < 0) {
    panel.replaceChildren(make("p", "Wheel or W S: zoom. Drag or A D: move. Click: what it is. Double click: as wide as the window. / : find. 0: all. A click on the name of a process folds it, one on a name with a triangle its lanes.", { class: "quiet" }));
    return;
  }
  const detail = trace.detailOf(event), rows = [];
  const add = (title, value) => rows.push(make("tr", [make("th", title), make("td", value)]));
  add("what", [swatch(trace.kindOf(event)), trace.kindOf(event)]);
  add("when", `${duration(trace.start[event])}, for ${duration(trace.duration[event])}`);
  for (const [name, value] of Object.entries(detail)) if (!["nodes", "at", "node"].includes(name) && value !== "") add(name, Array.isArray(value) ? value.join(", ") : String(value));
  if (detail.node) add("node", make("code", detail.node));
  const partner = trace.partners.get(event);
  if (partner !== undefined) add(trace.kindOf(event) === "send" ? "received" : "sent", link(partner, `${duration(Math.abs(trace.start[partner] + trace.duration[partner] - trace.start[event] - trace.duration[event]))} ${trace.kindOf(event) === "send" ? "later" : "earlier"}, by ${processOf(partner)}`));
  if (detail.nodes) add("nodes", make("details", [make("summary", `${detail.nodes.length} in it`), ...detail.nodes.map(node => make("div", [make("code", node), " ", make("span", lineText(node), { class: "quiet" })]))]));
  panel.replaceChildren(make("h2", trace.nameOf(event)), source(detail), make("table", rows));
}
const swatch = kind => make("span", "", { class: "swatch", style: `background:${colorOf(kind)}` });
const processOf = event => { const row = trace.rowOf(event); return trace.processes.find(p => p.id === row.process).name.replace(/ \(pid.*/, ""); };
const lineText = node => { const line = trace.lines[node]; return line ? `${line[0].split("/").pop()}:${line[1]}` : ""; };
function link(event, text) { const made = make("a", text, { href: "#" }); made.onclick = click => { click.preventDefault(); timeline.reveal(event); select(event); }; return made; }

// The line of the user's program that made the node: with the trace, so that it is there in a file, too.
function source(detail) {
  const line = detail.at ? [...detail.at, "", ""] : trace.lines[detail.node];
  if (!line) return make("span");
  return make("pre", [make("b", `${line[0]}:${line[1]}`), line[2] ? ` in ${line[2]}` : "", line[3] ? `\n${line[3]}` : ""], { class: "source", title: "where the program made it" });
}

// ---- the costliest in view ----

function showCosts() {
  const span = timeline.to - timeline.from, rows = [];
  for (const { time, count, event } of trace.costs(timeline.from, timeline.to).slice(0, 40)) {
    const row = make("tr", [make("td", [swatch(trace.kindOf(event)), trace.nameOf(event)]), make("td", lineText(trace.detailOf(event).node || ""), { class: "quiet" }),
      make("td", duration(time), { class: "number" }), make("td", (100 * time / span).toFixed(1) + " %", { class: "number" }), make("td", count.toLocaleString() + " ×", { class: "number" })], { class: "link" });
    row.onclick = () => { timeline.reveal(event); select(event); };
    rows.push(row);
  }
  const words = ["costliest in view", "made at", "time", "of the view", "times"];
  const head = make("tr", words.map(word => make("th", word)), { title: "Times of all threads are added up: several at once are more than 100 %." });
  element("costs").replaceChildren(make("table", [head, ...rows]));
}

// ---- search ----

function find() {
  found = trace.find(search.value); position = -1;
  timeline.marks = null;
  if (search.value) { timeline.marks = new Uint8Array(trace.size); for (const event of found) timeline.marks[event] = 1; }
  element("found").textContent = search.value ? found.length.toLocaleString() + " found" : "";
  timeline.redraw();
}
function step(by) {
  if (!found.length) return;
  if (position < 0) { // the next one in view
    position = found.findIndex(event => trace.start[event] >= timeline.from) - (by > 0 ? 1 : 0);
  }
  position = (position + by + found.length) % found.length;
  element("found").textContent = `${(position + 1).toLocaleString()} of ${found.length.toLocaleString()}`;
  timeline.reveal(found[position]); select(found[position]);
}
search.oninput = find;
search.onkeydown = event => { if (event.key === "Enter") step(event.shiftKey ? -1 : 1); if (event.key === "Escape") { search.value = ""; find(); canvas.focus(); } };
element("next").onclick = () => step(1);
element("previous").onclick = () => step(-1);
element("whole").onclick = () => timeline.whole();

// ---- the mouse and keys ----

let drag = null;
canvas.onpointerdown = event => { drag = { x: event.offsetX, y: event.offsetY, moved: false, at: [timeline.from, timeline.to, timeline.top] }; canvas.setPointerCapture(event.pointerId); };
canvas.onpointermove = event => {
  if (drag) {
    const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
    if (drag.moved) { tip.hidden = true; const [from, to, top] = drag.at, by = dx / timeline.scale; timeline.top = top; timeline.scroll(-dy); timeline.view(from - by, to - by); }
    return;
  }
  const hit = trace ? timeline.hit(event.offsetX, event.offsetY) : -1;
  tip.hidden = hit < 0;
  canvas.style.cursor = hit < 0 ? "default" : "pointer";
  if (hit >= 0) {
    const line = lineText(trace.detailOf(hit).node || "");
    tip.textContent = `${trace.nameOf(hit)}\n${trace.kindOf(hit)}, ${duration(trace.duration[hit])}${line ? ", " + line : ""}`;
    tip.style.left = Math.min(event.offsetX + 12, canvas.clientWidth - tip.offsetWidth - 8) + "px"; tip.style.top = event.offsetY + 16 + "px";
  }
};
canvas.onpointerup = event => {
  const moved = drag && drag.moved; drag = null;
  if (moved) return;
  const title = timeline.titleAt(event.offsetY), group = timeline.groupAt(event.offsetX, event.offsetY);
  if (title) timeline.fold(title.process); else if (group) timeline.foldGroup(group); else select(timeline.hit(event.offsetX, event.offsetY));
};
canvas.onpointerleave = () => { tip.hidden = true; };
canvas.ondblclick = event => { const hit = timeline.hit(event.offsetX, event.offsetY); if (hit >= 0) timeline.reveal(hit, true); };
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  if (event.offsetX < 230) timeline.scroll(event.deltaY);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) timeline.move((event.deltaX || event.deltaY) / 1000);
  else timeline.zoom(Math.exp(event.deltaY / 400), event.offsetX);
}, { passive: false });
document.onkeydown = event => {
  if (event.target === search || !trace) return;
  const middle = 230 + timeline.width / 2;
  const actions = {
    w: () => timeline.zoom(0.6, middle), s: () => timeline.zoom(1 / 0.6, middle), a: () => timeline.move(-0.25), d: () => timeline.move(0.25),
    ArrowLeft: () => timeline.move(-0.25), ArrowRight: () => timeline.move(0.25), ArrowUp: () => timeline.scroll(-60), ArrowDown: () => timeline.scroll(60),
    0: () => timeline.whole(), f: () => { if (timeline.selected >= 0) timeline.reveal(timeline.selected, true); }, "/": () => search.focus(), Escape: () => select(-1), n: () => step(1),
  };
  if (actions[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); actions[event.key](); }
};

window.weft = { timeline, get trace() { return trace; }, select, get found() { return found; } }; // for tests and the console
load();
