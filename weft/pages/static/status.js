// The status page: tables of what a server holds and does, and its graphs as pictures.
"use strict";
import { make, ask } from "./make.js";

const element = id => document.getElementById(id);
const bytes = value => value == null ? "" : value >= 1e9 ? (value / 1e9).toFixed(2) + " GB" : value >= 1e6 ? (value / 1e6).toFixed(2) + " MB" : value >= 1e3 ? (value / 1e3).toFixed(1) + " kB" : value + " B";
const seconds = value => value >= 3600 ? (value / 3600).toFixed(1) + " h" : value >= 60 ? (value / 60).toFixed(1) + " min" : value.toFixed(1) + " s";
const shape = each => `${each.dtype}${each.shape ? "[" + each.shape.map(d => d ?? "?").join(", ") + "]" : ""}`;

// Name of the section in the state -> its title and columns: heading, text of a row, class.
const SECTIONS = {
  models: ["Models", [["model", m => m.name], ["versions", m => m.versions.map(v => `${v.version} ${v.state}`).join(", ")], ["failed", m => m.failed, "number"], ["", m => pictureButton("model", m.name)]]],
  tasks: ["Tasks of the cluster", [["task", t => t.task.replace("/replica:0", "")], ["address", t => t.address], ["health", t => make("span", t.answers ? "answers" : "no answer: " + t.error, { class: t.answers ? "good" : "bad" })], ["devices", t => (t.devices || []).join(", ")]]],
  sessions: ["Sessions of clients", [["session", s => make("code", s.session)], ["nodes", s => s.nodes, "number"], ["signatures", s => s.signatures, "number"], ["steps", s => s.steps, "number"], ["steps/s", s => rate(s), "number"], ["under way", s => s.under_way, "number"], ["", s => pictureButton("session", s.session)]]],
  steps: ["Steps under way here", [["step", s => make("code", s.step)], ["for", s => seconds(s.seconds), "number"], ["waits for", s => s.waits_for.join("; ")]]],
  devices: ["Memory by device", [["device", d => d.name], ["", d => d.description], ["variables", d => bytes(d.variables), "number"], ["in use by XLA", d => bytes(d.in_use), "number"], ["at most", d => bytes(d.peak), "number"], ["there is", d => bytes(d.memory), "number"]]],
  variables: ["Variables", [["name", v => make("code", v.name)], ["", shape], ["size", v => v.initialized ? bytes(v.bytes) : make("span", "not initialized", { class: "bad" }), "number"], ["device", v => v.device.replace("/replica:0", "")]]],
  queues: ["Queues", [["name", q => make("code", q.name)], ["", q => q.kind], ["length", q => q.length, "number"], ["capacity", q => q.capacity ?? "∞", "number"], ["requests that wait", q => q.waiting, "number"], ["", q => q.closed ? make("span", "closed", { class: "bad" }) : make("progress", "", { value: q.length, max: q.capacity || Math.max(1, q.length) })], ["device", q => q.device.replace("/replica:0", "")]]],
  graphs: ["Graphs registered here", [["graph", g => g.graph], ["session", g => make("code", g.session)], ["nodes", g => g.nodes, "number"], ["tensors sent", g => g.sends, "number"], ["ends in", g => g.ends.join(", ")]]],
};

let before = new Map();
function rate(session) {
  const now = performance.now(), known = before.get(session.session);
  const found = known && now > known.now ? (session.steps - known.steps) / (now - known.now) * 1e3 : null;
  before.set(session.session, { now, steps: session.steps });
  return found == null ? "" : found.toFixed(1);
}

const boxes = new Map();
function section(name, rows) {
  const [title, columns] = SECTIONS[name];
  if (!boxes.has(name)) { const box = make("section", [make("h2", title), make("div", [], { class: "more" }), make("div")], { id: name }); boxes.set(name, box); element("main").append(box); }
  const table = rows.length ? make("table", [make("tr", columns.map(([head, , kind]) => make("th", head, { class: kind || "" }))),
    ...rows.map(row => make("tr", columns.map(([, text, kind]) => make("td", text(row), { class: kind || "" }))))]) : make("span", "none", { class: "quiet" });
  boxes.get(name).firstChild.textContent = rows.length > 1 ? `${title} (${rows.length})` : title;
  boxes.get(name).children[1].replaceChildren(table);
}

function pictureButton(kind, name) {
  const button = make("button", "graph");
  button.onclick = () => showPicture(kind, name, []);
  return button;
}

// Boxes in layers, from left to right; a click on a scope opens it, a click on an open one's name closes it.
async function showPicture(kind, name, open) {
  const response = await ask(`graph.json?${kind}=${encodeURIComponent(name)}&open=${encodeURIComponent(open.join(","))}`);
  if (!response.ok) { element("note").textContent = await response.text(); return; }
  const found = await response.json(), WIDE = 190, HIGH = 40, places = new Map();
  const svg = (tag, attributes, text) => { const made = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value); if (text) made.textContent = text; return made; };
  let width = 0, height = 0;
  for (const box of found.boxes) { const x = 10 + box.layer * (WIDE + 50), y = 10 + box.place * (HIGH + 14); places.set(box.name, [x, y]); width = Math.max(width, x + WIDE + 10); height = Math.max(height, y + HIGH + 10); }
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  for (const [from, to, count] of found.edges) {
    const a = places.get(from), b = places.get(to);
    if (a && b) drawing.append(svg("path", { d: `M${a[0] + WIDE} ${a[1] + HIGH / 2}C${a[0] + WIDE + 40} ${a[1] + HIGH / 2} ${b[0] - 40} ${b[1] + HIGH / 2} ${b[0]} ${b[1] + HIGH / 2}`, "stroke-width": Math.min(4, 1 + Math.log2(count) / 2) }));
  }
  for (const box of found.boxes) {
    const [x, y] = places.get(box.name), isScope = box.name.endsWith("/"), group = svg("g", { class: isScope ? "scope" : "node" });
    const label = box.name.replace(/\/$/, ""), short = label.length > 27 ? "…" + label.slice(-26) : label;
    const title = svg("title", {}, `${label}\n${box.kinds.map(([k, n]) => n > 1 ? k + " ×" + n : k).join(", ")}\n${box.devices.join(", ")}`);
    group.append(svg("rect", { x, y, width: WIDE, height: HIGH, rx: isScope ? 8 : 3 }), title, svg("text", { x: x + 8, y: y + 17 }, short), svg("text", { x: x + 8, y: y + 32, class: "kind" }, isScope ? `${box.nodes} nodes: ${box.kinds.slice(0, 2).map(([k]) => k).join(", ")}` : box.kinds[0][0]));
    if (isScope) group.onclick = () => showPicture(kind, name, [...open, label]);
    drawing.append(group);
  }
  const back = open.map(scope => { const button = make("button", "close " + scope); button.onclick = () => showPicture(kind, name, open.filter(each => each !== scope && !each.startsWith(scope + "/"))); return button; });
  const close = make("button", "close"), holder = boxes.get(kind + "s").lastChild;
  close.onclick = () => holder.replaceChildren();
  holder.replaceChildren(make("div", [make("code", name), " ", ...back, close, found.left_out ? ` ${found.left_out} boxes are left out` : ""], { class: "row" }), make("div", drawing, { class: "picture" }));
}

async function refresh() {
  try {
    const response = await ask("status.json");
    if (!response.ok) { element("note").textContent = response.status === 401 ? "a token is wanted: add ?token=… to the address" : "status " + response.status; return; }
    const state = await response.json();
    document.title = "weft " + state.title; element("title").textContent = state.title;
    element("note").textContent = [state.target, `up for ${seconds(state.uptime)}`, `pid ${state.process.pid}`, `${bytes(state.process.resident)} resident, ${bytes(state.process.free)} free`].filter(Boolean).join(" · ");
    for (const name of Object.keys(SECTIONS)) if (state[name]) section(name, state[name]);
  } catch (error) { element("note").textContent = "the server does not answer"; }
}
refresh();
setInterval(refresh, 2000);
