// The events of a trace as columns (weft/traces/columns.py), and questions about them.
"use strict";

const KINDS = { "<f8": Float64Array, "<u4": Uint32Array, "|u1": Uint8Array };

const AROUND = ["step", "master", "worker", "receive", "wait"];

export class Trace {
  constructor(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    Object.assign(this, header);
    let at = 4 + length;
    for (const [name, type, count] of header.columns) {
      const column = new KINDS[type](buffer, at, count);
      this[name] = column;
      at += Math.ceil(column.byteLength / 8) * 8;
    }
    this.size = this.start.length;
    this.groups = groupsOf(this.rows);
    this.busy = this.sums();
    this.end = 0;
    for (let i = 0; i < this.size; i++) this.end = Math.max(this.end, this.start[i] + this.duration[i]);
    this.partners = new Map();
    for (let i = 0; i < this.arrow.length; i += 2) {
      this.partners.set(this.arrow[i], this.arrow[i + 1]);
      this.partners.set(this.arrow[i + 1], this.arrow[i]);
    }
  }

  // Time that bars take up to each event, so that a crowd of them can be drawn as one, in a shade.
  sums() {
    const sums = new Float64Array(this.size + 1);
    for (let i = 0; i < this.size; i++) sums[i + 1] = sums[i] + this.duration[i];
    return sums;
  }

  // The first event of a bar that ends after `time`. The events of a bar do not overlap.
  firstAfter(first, count, time) {
    let low = first, high = first + count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] + this.duration[middle] <= time) low = middle + 1; else high = middle;
    }
    return low;
  }

  rowOf(event) {
    let low = 0, high = this.rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.rows[middle].bars[0][0] <= event) low = middle; else high = middle - 1;
    }
    return this.rows[low];
  }

  nameOf(event) { return this.names[this.name[event]]; }
  kindOf(event) { return this.kinds[this.kind[event]]; }
  detailOf(event) { return this.details[this.detail[event]] || {}; }

  // The events whose name, kind, or something in whose detail has the words, in order of time.
  find(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length) return new Uint32Array(0);
    const has = text => { const low = text.toLowerCase(); return wanted.map(word => low.includes(word)); };
    const names = this.names.map(has), kinds = this.kinds.map(has);
    const details = this.details.map(detail => has(this.text(detail)));
    const found = new Uint32Array(this.size);
    let count = 0;
    for (const i of this.order) {
      const name = names[this.name[i]], kind = kinds[this.kind[i]], detail = details[this.detail[i]];
      let has = true;
      for (let w = 0; has && w < wanted.length; w++) has = name[w] || kind[w] || detail[w];
      if (has) found[count++] = i;
    }
    return found.slice(0, count);
  }

  text(detail) {
    const line = detail.node && this.lines[detail.node];
    const { nodes, ...rest } = detail;
    return Object.values(rest).join(" ") + (nodes ? " " + nodes.join(" ") : "") + (line ? ` ${line[0]}:${line[1]}` : "");
  }

  // Total time by name and kind of what is inside of a span of time, the largest first: of work, and
  // of idle time, not of what goes on around it.
  costs(from, to) {
    const totals = new Map(), width = this.names.length, around = this.kinds.map(kind => AROUND.includes(kind));
    for (const row of this.rows) for (const [first, count] of row.bars) {
      if (around[this.kind[first]] && row.bars.length === 1) continue;
      for (let i = this.firstAfter(first, count, from); i < first + count && this.start[i] < to; i++) {
        if (around[this.kind[i]]) continue;
        const key = this.kind[i] * width + this.name[i], known = totals.get(key);
        const took = Math.min(this.start[i] + this.duration[i], to) - Math.max(this.start[i], from);
        if (known) { known.time += took; known.count++; }
        else totals.set(key, { time: took, count: 1, event: i });
      }
    }
    return [...totals.values()].sort((a, b) => b.time - a.time);
  }
}

// Rows of one kind (`waits`, `waits 2`, ...) are a group: folded, it is its first row.
function groupsOf(rows) {
  const found = new Map();
  for (const row of rows) {
    const name = row.name.replace(/ \d+$/, ""), key = row.process + "/" + name;
    if (!found.has(key)) found.set(key, { key, name, rows: [], folded: name === "waits" });
    found.get(key).rows.push(row); row.group = found.get(key);
  }
  return [...found.values()];
}

export function duration(microseconds) {
  const value = Math.abs(microseconds);
  if (value >= 1e6) return (microseconds / 1e6).toPrecision(4) + " s";
  if (value >= 1e3) return (microseconds / 1e3).toPrecision(4) + " ms";
  return microseconds.toPrecision(3) + " µs";
}
