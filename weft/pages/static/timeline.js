// The timeline: a canvas that draws what is in view of a trace, however many events that are.
//
// A bar (the events of one depth of one row) is one line of pixels, which is then copied to all lines
// of its height. It is filled from left to right by jumping: what is narrower than a pixel is put
// together with its neighbours up to the next pixel, found by bisection. So a picture costs as many
// steps as it has pixels, not as it has events.
"use strict";
import { duration } from "./columns.js";

const HEIGHT = 17, GAP = 5, TITLE = 22, AXIS = 24, LEFT = 230, FONT = "11px system-ui, sans-serif";
const COLORS = {
  step: "#5b8def", master: "#8fa7d8", worker: "#7aa2c8", program: "#3f9e6b", interpreted: "#8bbf6a",
  node: "#b5b04c", compile: "#d1495b", plan: "#d98b5f", python: "#b07cc6", op: "#4fa3a5",
  send: "#e0a03a", receive: "#c9c2b0", wait: "#d8c9a8", idle: "#a8a29e", other: "#8d99ae",
};
export const colorOf = kind => COLORS[kind] || COLORS.other;

export class Timeline {
  constructor(canvas, onChange) {
    this.canvas = canvas; this.context = canvas.getContext("2d"); this.onChange = onChange;
    this.top = 0; this.folded = new Set(); this.selected = -1; this.marks = null; this.pending = false;
    this.frames = [];
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  show(trace, keepView) {
    if (this.trace) for (const group of trace.groups) group.folded = (this.trace.groups.find(each => each.key === group.key) || group).folded;
    this.trace = trace; this.selected = -1; this.marks = null;
    if (!keepView) this.top = 0;
    this.layout(); this.whole();
  }

  // ---- where things are ----

  layout() {
    this.lines = []; this.titles = [];
    let y = 0;
    for (const process of this.trace.processes) {
      this.titles.push({ y, process }); y += TITLE;
      if (!this.folded.has(process.id)) {
        for (const row of this.trace.rows) {
          if (row.process !== process.id) continue;
          row.isHidden = row.group.folded && row !== row.group.rows[0];
          if (row.isHidden) continue;
          row.y = y;
          row.bars.forEach(([first, count], depth) => this.lines.push({ y: y + depth * HEIGHT, row, first, count }));
          y += row.bars.length * HEIGHT + GAP;
        }
      }
      y += GAP;
    }
    this.height = y;
  }

  get width() { return Math.max(1, this.canvas.clientWidth - LEFT); }
  get scale() { return this.width / (this.to - this.from); }
  x(time) { return LEFT + (time - this.from) * this.scale; }
  time(x) { return this.from + (x - LEFT) / this.scale; }

  view(from, to) {
    const least = 0.01, most = Math.max(1, this.trace.end) * 1.2;
    const span = Math.min(Math.max(to - from, least), most);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, -this.trace.end * 0.1), this.trace.end * 1.1 - span);
    this.to = this.from + span;
    this.redraw(); this.onChange();
  }
  whole() { this.view(-this.trace.end * 0.01, this.trace.end * 1.01); }
  zoom(factor, x) { const at = this.time(x); this.view(at - (at - this.from) * factor, at + (this.to - at) * factor); }
  move(share) { const by = (this.to - this.from) * share; this.view(this.from + by, this.to + by); }
  scroll(by) {
    const room = Math.max(0, this.height - (this.canvas.clientHeight - AXIS));
    this.top = Math.min(room, Math.max(0, this.top + by)); this.redraw();
  }

  // Brings an event into view, at a width at which it can be seen.
  reveal(event, close) {
    const { trace } = this, start = trace.start[event], took = trace.duration[event], row = trace.rowOf(event);
    if (this.folded.delete(row.process) || row.isHidden) { row.group.folded = false; this.layout(); }
    const span = close ? took * 3 : Math.min(Math.max(this.to - this.from, took * 1.5), Math.max(took * 400, 1));
    const middle = start + took / 2;
    if (close || middle < this.from || middle > this.to || span < this.to - this.from) this.view(middle - span / 2, middle + span / 2);
    const room = this.canvas.clientHeight - AXIS;
    if (row.y < this.top || row.y > this.top + room - 60) { this.top = 0; this.scroll(row.y - room / 3); }
  }

  select(event) { this.selected = event; this.redraw(); }

  // The event at a place, or -1. Narrow ones can be hit a pixel or two beside them.
  hit(x, y) {
    const line = this.lines.find(each => { const at = this.canvasY(each.y); return y >= at && y < at + HEIGHT; });
    if (!line || x < LEFT || y < AXIS) return -1;
    const { trace } = this, slack = 2 / this.scale;
    const event = trace.firstAfter(line.first, line.count, this.time(x) - slack);
    return event < line.first + line.count && trace.start[event] <= this.time(x) + slack ? event : -1;
  }
  titleAt(y) { return this.titles.find(each => { const at = this.canvasY(each.y); return y >= Math.max(at, AXIS) && y < at + TITLE; }); }
  // The group of rows whose name is at a place.
  groupAt(x, y) {
    if (x >= LEFT || y < AXIS) return undefined;
    const line = this.lines.find(each => { const at = this.canvasY(each.y); return y >= at && y < at + HEIGHT; });
    return line && line.row.group.rows.length > 1 ? line.row.group : undefined;
  }
  foldGroup(group) { group.folded = !group.folded; this.layout(); this.scroll(0); }
  fold(process) { if (!this.folded.delete(process.id)) this.folded.add(process.id); this.layout(); this.scroll(0); }
  canvasY(y) { return y - this.top + AXIS; }

  // ---- drawing ----

  redraw() {
    if (this.pending || !this.trace) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const began = performance.now();
      this.draw();
      this.frames.push(performance.now() - began);
      if (this.frames.length > 500) this.frames.shift();
    });
  }

  draw() {
    const { canvas, context } = this, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    this.resize(Math.round(width * ratio), Math.round(height * ratio), ratio);
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "paper", "faint", "raised"]) this[name] = style.getPropertyValue("--" + name).trim();
    this.fillBackground();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT; context.textBaseline = "middle";
    const shown = this.lines.filter(line => { const y = this.canvasY(line.y); return y > AXIS - HEIGHT && y < height; });
    const labels = shown.map(line => this.fillBar(line, this.canvasY(line.y)));
    context.putImageData(this.image, 0, 0);
    context.save();
    context.beginPath(); context.rect(LEFT, AXIS, width - LEFT, height - AXIS); context.clip();
    context.fillStyle = "#101418";
    for (const [x, y, text] of labels.flat()) context.fillText(text, x, y);
    this.drawArrows();
    this.drawSelected();
    context.restore();
    this.drawTitles(width, height);
    this.drawAxis(width);
  }

  resize(width, height, ratio) {
    this.ratio = ratio;
    if (this.canvas.width === width && this.canvas.height === height && this.image) return;
    this.canvas.width = width; this.canvas.height = height;
    this.image = this.context.createImageData(Math.max(1, width), Math.max(1, height));
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.line = new Uint32Array(this.image.width); this.blank = new Uint32Array(this.image.width);
  }

  fillBackground() {
    const { blank, pixels, image, ratio } = this;
    blank.fill(pixel(this.paper));
    for (const at of this.ticks()) { const x = Math.round(this.x(at) * ratio); if (x >= LEFT * ratio && x < blank.length) blank[x] = pixel(this.raised); }
    for (let y = 0; y < image.height; y++) pixels.set(blank, y * image.width);
    this.shades = this.trace.kinds.map(kind => shadesOf(colorOf(kind), this.paper));
    this.marked = shadesOf("#f0a020", this.paper);
  }

  // Puts the bar into the picture; gives the texts that have room in it, and where.
  fillBar({ first, count }, y) {
    const { trace, ratio, line, image, marks } = this, { start, duration: took, kind, busy } = trace;
    const end = first + count, scale = this.scale * ratio, left = LEFT * ratio, labels = [];
    line.set(this.blank);
    let i = trace.firstAfter(first, count, this.from);
    while (i < end && start[i] < this.to) {
      const x = left + (start[i] - this.from) * scale, width = took[i] * scale;
      const isMarked = marks && marks[i], shades = isMarked ? this.marked : this.shades[kind[i]];
      if (width >= 1.5) {
        // The last pixel of a bar stays free, so that neighbours can be told apart.
        const from = Math.max(left, Math.round(x)), to = Math.min(line.length, Math.max(from + 1, Math.round(x + width) - (width > 3 ? 1 : 0)));
        line.fill(shades[marks && !isMarked ? 5 : SHADES], from, to);
        const room = (to - from) / ratio - 6;
        if (room > 26) labels.push([from / ratio + 3, y + HEIGHT / 2 - 0.5, fit(this.context, trace.nameOf(i), room)]);
        i++;
        continue;
      }
      const column = Math.max(left, Math.floor(x));
      const next = this.firstBeyond(i, end, this.from + (column + 1 - left) / scale);
      const share = Math.min(1, (busy[next] - busy[i]) * scale);
      const known = marks && this.anyMarked(i, next);
      if (column < line.length) line[column] = known ? this.marked[SHADES] : shades[marks ? 3 : Math.ceil(5 + share * (SHADES - 5))];
      i = next;
    }
    const top = Math.max(AXIS * ratio, Math.round(y * ratio)), bottom = Math.min(image.height, Math.round((y + HEIGHT - 2) * ratio));
    for (let row = top; row < bottom; row++) this.pixels.set(line, row * image.width);
    return labels;
  }

  // The first event after `i` that ends after `time`: near it, mostly, so steps grow from there.
  firstBeyond(i, end, time) {
    const { trace } = this;
    let step = 1;
    while (i + step < end && trace.start[i + step] + trace.duration[i + step] <= time) step *= 2;
    const low = i + (step >> 1) + (step === 1 ? 1 : 0), high = Math.min(end, i + step);
    return Math.max(i + 1, trace.firstAfter(low, high - low, time));
  }

  anyMarked(from, to) {
    for (let i = from; i < to && i < from + 256; i++) if (this.marks[i]) return true;
    return false;
  }

  drawSelected() {
    if (this.selected < 0) return;
    const { trace, context, selected } = this, row = trace.rowOf(selected);
    if (this.isFolded(row)) return;
    const y = this.yOf(selected), left = this.x(trace.start[selected]), took = trace.duration[selected] * this.scale;
    context.strokeStyle = this.ink; context.lineWidth = 2;
    context.strokeRect(left - 1, y - 1, Math.max(3, took + 1), HEIGHT);
  }

  isFolded(row) { return this.folded.has(row.process) || row.isHidden; }

  yOf(event) {
    let row = this.trace.rowOf(event);
    if (row.isHidden) return this.canvasY(row.group.rows[0].y);
    const depth = row.bars.findIndex(([first, count]) => event >= first && event < first + count);
    return this.canvasY(row.y + depth * HEIGHT);
  }

  // Arrows from sends to receives: of what is selected, and all if there are few in view.
  drawArrows() {
    const { trace, context } = this, shown = [];
    for (let i = 0; i < trace.arrow.length && shown.length <= 300; i += 2) {
      const from = trace.arrow[i], to = trace.arrow[i + 1];
      const end = trace.start[to] + trace.duration[to];
      if (end >= this.from && trace.start[from] <= this.to) shown.push([from, to]);
    }
    const own = trace.partners.get(this.selected);
    if (shown.length <= 300) for (const [from, to] of shown) this.drawArrow(from, to, 0.35, 1);
    if (own !== undefined) {
      const isSend = trace.kindOf(this.selected) === "send";
      this.drawArrow(isSend ? this.selected : own, isSend ? own : this.selected, 1, 2);
    }
    context.globalAlpha = 1;
  }

  drawArrow(from, to, alpha, width) {
    const { trace, context } = this;
    if (this.folded.has(trace.rowOf(from).process) || this.folded.has(trace.rowOf(to).process)) return;
    const x1 = this.x(trace.start[from] + trace.duration[from]), y1 = this.yOf(from) + HEIGHT / 2;
    const x2 = this.x(trace.start[to] + trace.duration[to]), y2 = this.yOf(to) + HEIGHT / 2;
    const bend = Math.max(20, Math.abs(x2 - x1) / 2);
    context.globalAlpha = alpha; context.strokeStyle = context.fillStyle = "#e07b00"; context.lineWidth = width;
    context.beginPath(); context.moveTo(x1, y1); context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2); context.stroke();
    context.beginPath(); context.moveTo(x2, y2); context.lineTo(x2 - 6, y2 - 3); context.lineTo(x2 - 6, y2 + 3); context.fill();
  }

  ticks() {
    const rough = (this.to - this.from) / Math.max(2, this.width / 130), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find(each => each * power >= rough) * power, found = [];
    for (let at = Math.ceil(this.from / step) * step; at < this.to; at += step) found.push(at);
    return found;
  }
  drawAxis(width) {
    const { context } = this;
    context.fillStyle = this.raised; context.fillRect(0, 0, width, AXIS - 2);
    context.fillStyle = this.faint;
    for (const at of this.ticks()) if (this.x(at) >= LEFT) context.fillText(duration(at || 0), this.x(at) + 3, AXIS / 2);
    context.fillText(`${duration(this.to - this.from)} in view`, 8, AXIS / 2);
  }

  drawTitles(width, height) {
    const { context } = this;
    context.fillStyle = this.paper; context.fillRect(0, AXIS, LEFT - 1, height);
    for (const row of this.trace.rows) {
      if (this.isFolded(row)) continue;
      const y = this.canvasY(row.y), { group } = row, isFirst = row === group.rows[0] && group.rows.length > 1;
      if (y < AXIS - 200 || y > height) continue;
      const name = isFirst && group.folded ? `${group.name} (${group.rows.length} lanes)` : row.name;
      context.fillStyle = this.faint;
      if (isFirst) context.fillText(group.folded ? "▸" : "▾", 10, y + HEIGHT / 2);
      context.fillText(fit(context, name, LEFT - 34), 22, y + HEIGHT / 2);
    }
    for (const { y: at, process } of this.titles) {
      const y = this.canvasY(at);
      if (y < AXIS - TITLE || y > height) continue;
      context.fillStyle = this.raised; context.fillRect(0, y, width, TITLE - 3);
      context.fillStyle = this.ink; context.font = "600 12px system-ui, sans-serif";
      context.fillText(`${this.folded.has(process.id) ? "▸" : "▾"} ${process.name}`, 8, y + TITLE / 2 - 1);
      context.font = FONT;
    }
  }
}

// Colours as the pixels of a picture have them: from the paper's to the full one, in steps.
const SHADES = 15, known = new Map();
function channels(color) {
  const text = color.length === 4 ? "#" + [...color.slice(1)].map(each => each + each).join("") : color;
  return [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16));
}
const packed = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
const pixel = color => packed(channels(color));
function shadesOf(color, paper) {
  const key = color + paper;
  if (!known.has(key)) {
    const full = channels(color), none = channels(paper);
    known.set(key, Uint32Array.from({ length: SHADES + 1 }, (_, i) => packed(full.map((each, c) => Math.round(none[c] + (each - none[c]) * i / SHADES)))));
  }
  return known.get(key);
}

const fitted = new Map();
function fit(context, text, room) {
  const size = Math.floor(room / 8), key = text + "\0" + size;
  let found = fitted.get(key);
  if (found === undefined) {
    found = text;
    if (context.measureText(text).width > room) {
      let keep = Math.max(1, Math.floor(room / 5.6));
      while (keep > 1 && context.measureText(text.slice(0, keep) + "…").width > room) keep--;
      found = text.slice(0, keep) + "…";
    }
    if (fitted.size > 20000) fitted.clear();
    fitted.set(key, found);
  }
  return found;
}
