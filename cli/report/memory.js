// Memory over time, stacked by kind where a plan is known, with the budget and the peak.

const memoryHeight = { device: 200, host: 120 };

// A run's memory of one space: its layers from below, and the levels that matter at every change.
class MemoryStack {
  constructor(run, space) {
    const memory = run.memory;
    this.title = run.title;
    this.space = space;
    this.total = curveOf(memory[space]) || { at: new Float64Array(0), bytes: new Float64Array(0) };
    const kinds = memory[space + '_kinds'];
    this.layers = (kinds || []).map(({ kind, curve }) => ({ kind: data.kinds[kind], curve: curveOf(curve) }));
    if (!kinds && this.total.at.length > 0) this.layers = [{ kind: 'total', curve: this.total }];
    this.peak = peakOf(this.total);
    this.instants = Float64Array.from(new Set(this.layers.flatMap(({ curve }) => [...curve.at]))).sort();
    this.lines = [];
    if (space === 'device' && memory.reserved) this.lines.push({ name: 'reserved by the allocator', curve: curveOf(memory.reserved) });
    if (space === 'host' && memory.pinned) this.lines.push({ name: 'pinned', curve: curveOf(memory.pinned) });
  }
  at(time) { return this.layers.map(({ kind, curve }) => ({ kind, bytes: levelAt(curve, time) })); }
  highest() { return Math.max(this.peak.bytes, ...this.lines.map(({ curve }) => peakOf(curve).bytes)); }
}

// Of what is in view, at most two instants a pixel: where it begins, and where the total is highest.
function instantsInView(stack, axis, width) {
  const first = Math.max(0, lastAtMost(stack.instants, axis.from));
  const last = Math.min(stack.instants.length - 1, lastAtMost(stack.instants, axis.to));
  if (last - first < 2 * width) return stack.instants.slice(first, last + 1);
  const chosen = [];
  let pixel = null, highest = null;
  for (let i = first; i <= last; ++i) {
    const at = stack.instants[i], x = Math.floor(axis.x(at, width)), level = levelAt(stack.total, at);
    if (x !== pixel) {
      if (highest && highest.at !== chosen[chosen.length - 1]) chosen.push(highest.at);
      chosen.push(at);
      [pixel, highest] = [x, { at, level }];
    } else if (level > highest.level) highest = { at, level };
  }
  if (highest && highest.at !== chosen[chosen.length - 1]) chosen.push(highest.at);
  return chosen;
}

class MemoryChart {
  constructor(holder, axis, stacks, budget) {
    Object.assign(this, { holder, axis, stacks, budget, shown: 0 });
    this.space = stacks[0].space;
    this.height = memoryHeight[this.space];
    axis.listen(() => this.draw());
    listenToZoom(holder, axis, (event) => this.hover(event), () => {});
  }
  get stack() { return this.stacks[this.shown]; }
  // A budget far above all that happens would press it flat; then it is only named.
  top() {
    const highest = Math.max(1, ...this.stacks.map((stack) => stack.highest()));
    this.budgetShown = this.budget && this.budget < highest * 2.5;
    return Math.max(highest, this.budgetShown ? this.budget : 0) * 1.12;
  }
  y(bytes) { return 22 + (this.height - 28) * (1 - Math.max(0, bytes) / this.scale); }
  draw() {
    this.scale = this.top();
    paint(this.holder, this.height, (context, width) => {
      paintTicks(context, this.axis, width, 20, this.height - 6, false);
      this.drawLevels(context, width);
      context.save();
      context.beginPath();
      context.rect(gutter, 0, width - gutter - margin, this.height);
      context.clip();
      this.drawLayers(context, width);
      this.stacks.forEach((stack, i) => i !== this.shown && this.drawLine(context, width, stack.total, 'ink', [4, 3]));
      for (const line of this.stack.lines) this.drawLine(context, width, line.curve, 'line-over', []);
      context.restore();
      this.drawBudget(context, width);
      this.drawPeak(context, width);
      paintBand(context, this.axis, width, 20, this.height - 6);
      paintCursor(context, this.axis, width, 20, this.height - 6);
    });
  }
  drawLevels(context, width) {
    context.textAlign = 'left';
    context.fillStyle = colour('ink');
    context.font = '600 12px system-ui, sans-serif';
    context.fillText(this.space === 'device' ? 'On the device' : 'On the host', 0, 10);
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = colour('muted');
    context.textAlign = 'right';
    for (const share of [0, 0.5, 1]) {
      const bytes = (this.scale / 1.12) * share;
      context.fillText(size(bytes), gutter - 10, this.y(bytes));
    }
  }
  drawLayers(context, width) {
    const instants = instantsInView(this.stack, this.axis, width);
    if (instants.length === 0) return;
    const base = new Float64Array(instants.length);
    const right = this.axis.x(Math.min(this.axis.to, this.axis.end), width);
    for (const { kind, curve } of this.stack.layers) {
      const upper = base.map((under, i) => under + levelAt(curve, instants[i]));
      this.outline(context, width, instants, upper, base, right);
      context.fillStyle = colour('kind-' + kind.replace('_', '-'));
      context.fill();
      upper.forEach((level, i) => (base[i] = level));
    }
  }
  outline(context, width, instants, upper, base, right) {
    context.beginPath();
    const x = (i) => (i < instants.length ? Math.max(gutter, this.axis.x(instants[i], width)) : right);
    context.moveTo(x(0), this.y(base[0]));
    for (let i = 0; i < instants.length; ++i) {
      context.lineTo(x(i), this.y(upper[i]));
      context.lineTo(x(i + 1), this.y(upper[i]));
    }
    for (let i = instants.length - 1; i >= 0; --i) {
      context.lineTo(x(i + 1), this.y(base[i]));
      context.lineTo(x(i), this.y(base[i]));
    }
    context.closePath();
  }
  drawLine(context, width, curve, name, dashes) {
    context.strokeStyle = colour(name);
    context.lineWidth = 1.5;
    context.setLineDash(dashes);
    context.beginPath();
    let pixel = null;
    for (let i = Math.max(0, lastAtMost(curve.at, this.axis.from)); i < curve.at.length && curve.at[i] <= this.axis.to; ++i) {
      const x = this.axis.x(curve.at[i], width), next = i + 1 < curve.at.length ? curve.at[i + 1] : this.axis.end;
      const y = this.y(curve.bytes[i]);
      if (pixel === null) context.moveTo(x, y);
      context.lineTo(x, y);
      context.lineTo(this.axis.x(next, width), y);
      pixel = x;
    }
    context.stroke();
    context.setLineDash([]);
    context.lineWidth = 1;
  }
  drawBudget(context, width) {
    if (!this.budget) return;
    context.textAlign = 'right';
    context.fillStyle = context.strokeStyle = colour('budget');
    if (!this.budgetShown) return context.fillText(`budget ${size(this.budget)}, far above`, width - margin, 10);
    const y = Math.round(this.y(this.budget)) + 0.5;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(gutter, y);
    context.lineTo(width - margin, y);
    context.stroke();
    context.lineWidth = 1;
    context.fillText('budget ' + size(this.budget), width - margin, y - 8);
  }
  drawPeak(context, width) {
    const { at, bytes } = this.stack.peak, x = this.axis.x(at, width), y = this.y(bytes);
    if (!bytes || x < gutter || x > width - margin) return;
    context.fillStyle = colour('ink');
    context.beginPath();
    context.arc(x, y, 3.5, 0, 7);
    context.fill();
    const left = x > width - 130;
    context.textAlign = left ? 'right' : 'left';
    const text = 'peak ' + size(bytes), length = context.measureText(text).width;
    context.fillStyle = mixed(colour('paper'), 0.85);
    context.fillRect(left ? x - 10 - length : x + 6, y - 17, length + 4, 14);
    context.fillStyle = colour('ink');
    context.fillText(text, x + (left ? -8 : 8), y - 9);
  }
  hover(event) {
    const time = this.axis.cursor;
    if (time < 0 || time > this.axis.end || this.stack.layers.length === 0) return hideTip();
    const parts = this.stack.at(time).filter(({ bytes }) => bytes > 0).reverse();
    showTip(event, [
      element('b', {}, `${size(levelAt(this.stack.total, time))} at ${duration(time)}, ${this.stack.title}`),
      ...parts.map(({ kind, bytes }) => element('span', {}, swatch('kind-' + kind.replace('_', '-')), `${kindWords[kind] || 'in use'} ${size(bytes)}`)),
      ...this.stack.lines.map((line) => element('span', {}, `${line.name} ${size(levelAt(line.curve, time))}`)),
      ...this.stacks.filter((stack) => stack !== this.stack).map((stack) => element('span', {}, `${stack.title} ${size(levelAt(stack.total, time))}`)),
    ]);
  }
}

// In words: when the peak is, what runs then, what it is made of, and how far from the budget.
function explainPeak(stack, lanes, budget) {
  const { at, bytes } = stack.peak;
  if (!bytes) return null;
  const row = lanes.rowAt(lanes.lanes.find((lane) => lane.name === 'compute'), at);
  const during = row !== null && lanes.end(row) > at ? `, during the ${lanes.wordsOf(row)}` : '';
  const room = budget ? (bytes <= budget ? `; ${size(budget - bytes)} of the budget are left` : `; that is ${size(bytes - budget)} over the budget`) : '';
  const parts = stack.at(at).filter((part) => part.bytes > 0 && part.kind !== 'total').sort((a, b) => b.bytes - a.bytes);
  const bars = parts.map(({ kind, bytes: share }) =>
    element('tr', {}, element('th', { scope: 'row' }, swatch('kind-' + kind.replace('_', '-')), kindWords[kind]),
      element('td', { class: 'number' }, size(share)), element('td', { class: 'number' }, percent(share / bytes))));
  return element('div', { class: 'peak' },
    element('p', {}, element('b', {}, `The peak on the ${stack.space} is ${size(bytes)}`), `, at ${duration(at)}${during}${room}.`),
    parts.length > 0 ? element('table', {}, element('caption', {}, 'What is there at the peak'),
      element('tbody', {}, ...bars)) : undefined);
}
