// What the charts of one step share: the time axis with its zoom, colours, and sharp canvases.

const gutter = 104;  // names of lanes, left of the drawing
const margin = 14;   // right of it

class TimeAxis {
  constructor(end) {
    this.end = Math.max(1, end);
    this.from = 0;
    this.to = this.end;
    this.cursor = null;
    this.listeners = [];
  }
  listen(draw) { this.listeners.push(draw); }
  changed() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = null;
      for (const draw of this.listeners) draw();
    });
  }
  show(from, to) {
    const length = Math.min(this.end, Math.max(to - from, Math.max(1, this.end / 1e6)));
    this.from = Math.min(Math.max(0, (from + to - length) / 2), this.end - length);
    this.to = this.from + length;
    this.changed();
  }
  zoom(factor, around = (this.from + this.to) / 2) {
    this.show(around - (around - this.from) / factor, around + (this.to - around) / factor);
  }
  all() { this.show(0, this.end); }
  pan(share) {
    const by = (this.to - this.from) * share;
    const from = Math.min(Math.max(0, this.from + by), this.end - (this.to - this.from));
    this.show(from, from + (this.to - this.from));
  }
  point(at) {
    this.cursor = at;
    this.changed();
  }
  x(at, width) { return gutter + ((at - this.from) / (this.to - this.from)) * (width - gutter - margin); }
  time(x, width) { return this.from + ((x - gutter) / (width - gutter - margin)) * (this.to - this.from); }
  // Round times, some 100 pixels apart.
  ticks(width) {
    const wanted = (this.to - this.from) / Math.max(2, (width - gutter) / 110);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted);
    const ticks = [];
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) ticks.push(at);
    return ticks;
  }
}

// A name of style.css, as it stands in the theme of the moment.
const colours = new Map();
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  return colours.get(name);
}
function themeChanged() { colours.clear(); }

function mixed(foreground, share) {
  return `color-mix(in srgb, ${foreground} ${Math.round(share * 100)}%, transparent)`;
}

// A canvas as wide as its place, in the device's own pixels. Calls back with a context that counts CSS pixels.
function paint(holder, height, draw) {
  const canvas = holder.querySelector('canvas');
  const width = Math.max(320, holder.clientWidth);
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  draw(context, width);
}

function paintTicks(context, axis, width, top, bottom, named) {
  context.textAlign = 'center';
  for (const at of axis.ticks(width)) {
    const x = Math.round(axis.x(at, width)) + 0.5;
    context.strokeStyle = colour('grid');
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, bottom);
    context.stroke();
    context.fillStyle = colour('muted');
    if (named && x < width - 24) context.fillText(duration(at), x, top - 10);
  }
}

function paintCursor(context, axis, width, top, bottom) {
  if (axis.cursor === null) return;
  const x = Math.round(axis.x(axis.cursor, width)) + 0.5;
  if (x < gutter || x > width - margin) return;
  context.strokeStyle = colour('ink');
  context.setLineDash([2, 3]);
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x, bottom);
  context.stroke();
  context.setLineDash([]);
}

const tip = document.getElementById('tip');

function showTip(event, lines) {
  tip.replaceChildren(...lines);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = event.clientX + 16 + box.width > innerWidth ? event.clientX - box.width - 12 : event.clientX + 16;
  const top = event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 16;
  tip.style.left = Math.max(4, left) + 'px';
  tip.style.top = Math.max(4, top) + 'px';
}
function hideTip() { tip.hidden = true; }

const swatch = (name, extra = '') => element('i', { class: 'swatch ' + extra, style: `--c: var(--${name})` });

function legend(entries, naming, prefix) {
  return entries.map((name) => element('span', {}, swatch(prefix + name, name === 'wait' ? 'hatched' : ''), naming[name]));
}

// Dragging across zooms in, dragging with Shift moves; so do sideways wheels, and wheels with Ctrl zoom.
function listenToZoom(holder, axis, onMove, onClick) {
  const timeOf = (event) => axis.time(event.clientX - holder.getBoundingClientRect().left, holder.clientWidth);
  let from = null;
  holder.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    from = { x: event.clientX, time: timeOf(event), view: [axis.from, axis.to], moves: event.shiftKey };
    holder.setPointerCapture(event.pointerId);
  });
  holder.addEventListener('pointermove', (event) => {
    if (from && from.moves) {
      const by = ((from.x - event.clientX) / (holder.clientWidth - gutter - margin)) * (from.view[1] - from.view[0]);
      const begin = Math.min(Math.max(0, from.view[0] + by), axis.end - (from.view[1] - from.view[0]));
      axis.show(begin, begin + from.view[1] - from.view[0]);
    }
    axis.band = from && !from.moves && Math.abs(event.clientX - from.x) > 4 ? [from.time, timeOf(event)] : null;
    axis.point(timeOf(event));
    onMove(event);
  });
  holder.addEventListener('pointerup', (event) => {
    if (from && axis.band) axis.show(Math.min(...axis.band), Math.max(...axis.band));
    else if (from && !from.moves) onClick(event);
    from = axis.band = null;
    axis.changed();
  });
  holder.addEventListener('pointerleave', () => {
    axis.point(null);
    hideTip();
  });
  holder.addEventListener('dblclick', () => axis.all());
  holder.addEventListener('wheel', (event) => {
    if (event.ctrlKey || event.metaKey) axis.zoom(Math.exp(-event.deltaY / 200), timeOf(event));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) axis.pan(event.deltaX / 800);
    else return;
    event.preventDefault();
  }, { passive: false });
}

function paintBand(context, axis, width, top, bottom) {
  if (!axis.band) return;
  const [a, b] = axis.band.map((at) => Math.min(Math.max(axis.x(at, width), gutter), width - margin));
  context.fillStyle = mixed(colour('accent'), 0.18);
  context.fillRect(Math.min(a, b), top, Math.abs(b - a), bottom - top);
}
