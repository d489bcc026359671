// What other budgets would get: the frontier of time against memory, a budget to try, and plans side by side.

const svg = (tag, attributes, ...children) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

class Budgets {
  constructor() {
    this.points = data.frontier;
    this.keep = data.keep;
    this.plan = data.plan || null;
    const fits = this.plan && data.plan.host_peak_bytes <= (data.host_budget_bytes ?? Infinity);
    // The first of those that are equally fast is the simplest.
    this.offers = [...this.points, ...(fits ? [this.plan] : [])];
    const memories = [...this.points, this.keep, ...(this.plan ? [this.plan] : [])].map((each) => each.on_device_bytes);
    if (data.device_budget_bytes && data.device_budget_bytes < 2 * Math.max(...memories)) memories.push(data.device_budget_bytes);
    this.least = Math.min(...memories) * 0.97;
    this.most = Math.max(...memories) * 1.03;
    this.selected = null;
  }
  // The fastest within a budget; null where nothing fits.
  within(bytes) {
    const fitting = this.offers.filter((each) => each.on_device_bytes <= bytes);
    return fitting.reduce((best, each) => (!best || each.step_ns < best.step_ns ? each : best), null);
  }
}

class FrontierChart {
  constructor(holder, budgets, onSelect) {
    Object.assign(this, { holder, budgets, onSelect, width: 900, height: 280 });
    const times = [...budgets.points, budgets.keep, ...(budgets.plan ? [budgets.plan] : [])].map((each) => each.step_ns);
    const low = Math.min(...times), high = Math.max(...times), room = (high - low || high || 1) * 0.12;
    this.times = [Math.max(0, low - room), high + room];
    this.draw();
  }
  x(bytes) {
    const { least, most } = this.budgets;
    return 76 + ((bytes - least) / (most - least || 1)) * (this.width - 96);
  }
  y(ns) { return 16 + (1 - (ns - this.times[0]) / (this.times[1] - this.times[0])) * (this.height - 60); }
  draw() {
    this.width = Math.max(420, this.holder.clientWidth);
    this.picture = svg('svg', { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height, role: 'radiogroup', 'aria-label': 'Plans by device memory and step time' });
    this.drawScales();
    this.drawBudget();
    this.picture.append(svg('path', { class: 'stairs', d: this.stairs() }));
    this.band = this.picture.appendChild(svg('line', { class: 'try', y1: 12, y2: this.height - 44 }));
    this.dots = [];
    for (const point of this.budgets.points) this.addDot(point, 'point', 4.5);
    if (this.budgets.plan) this.addDot(this.budgets.plan, 'plan', 6.5);
    this.addDot(this.budgets.keep, 'keep', 5);
    this.picture.addEventListener('keydown', (event) => this.key(event));
    this.holder.replaceChildren(this.picture);
  }
  drawScales() {
    const { least, most } = this.budgets, bottom = this.height - 44;
    for (let i = 0; i <= 4; ++i) {
      const bytes = least + ((most - least) * i) / 4, ns = this.times[0] + ((this.times[1] - this.times[0]) * i) / 4;
      this.picture.append(
        svg('line', { class: 'grid', x1: 76, x2: this.width - 20, y1: this.y(ns), y2: this.y(ns) }),
        svg('text', { class: 'scale', x: 68, y: this.y(ns) + 4, 'text-anchor': 'end' }, duration(ns)),
        svg('text', { class: 'scale', x: this.x(bytes), y: bottom + 18, 'text-anchor': i === 4 ? 'end' : 'middle' }, size(bytes)));
    }
    this.picture.append(svg('text', { class: 'scale', x: this.width - 20, y: this.height - 6, 'text-anchor': 'end' }, 'device memory at the peak →  less is better; lower is faster'));
  }
  drawBudget() {
    const budget = data.device_budget_bytes;
    if (!budget || budget > this.budgets.most) return;
    const x = this.x(budget), left = x > this.width - 140;
    this.picture.append(
      svg('rect', { class: 'beyond', x, y: 12, width: Math.max(0, this.width - 20 - x), height: this.height - 56 }),
      svg('line', { class: 'budget', x1: x, x2: x, y1: 12, y2: this.height - 44 }),
      svg('text', { class: 'budget-name', x: x + (left ? -6 : 6), y: 24, 'text-anchor': left ? 'end' : 'start' }, 'budget ' + size(budget)));
  }
  stairs() {
    let path = '';
    this.budgets.points.forEach((point, i) => {
      const x = this.x(point.on_device_bytes), y = this.y(point.step_ns);
      path += i === 0 ? `M${x} ${y}` : `H${x}V${y}`;
    });
    return path && path + `H${this.width - 20}`;
  }
  addDot(point, kind, radius) {
    const x = this.x(point.on_device_bytes), y = this.y(point.step_ns);
    const name = { point: '', plan: 'This plan: ', keep: 'Keep everything: ' }[kind];
    const dot = svg('g', { class: 'dot ' + kind, role: 'radio', tabindex: this.dots.length === 0 ? 0 : -1, 'aria-checked': false,
      'aria-label': `${name}${point.words}, ${duration(point.step_ns)} a step, ${size(point.on_device_bytes)} on the device` });
    const shape = kind === 'keep' ? svg('rect', { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius })
      : svg('circle', { cx: x, cy: y, r: radius });
    dot.append(svg('circle', { class: 'reach', cx: x, cy: y, r: 11 }), shape);
    dot.addEventListener('click', () => this.choose(this.dots.findIndex((each) => each.dot === dot), true));
    dot.addEventListener('pointermove', (event) => showTip(event, [element('b', {}, name + point.words), element('span', {}, `${duration(point.step_ns)} a step, ${size(point.on_device_bytes)} on the device`)]));
    dot.addEventListener('pointerleave', hideTip);
    this.dots.push({ dot, point });
    this.picture.append(dot);
  }
  choose(index, focus) {
    this.dots.forEach(({ dot }, i) => {
      dot.setAttribute('aria-checked', i === index);
      dot.setAttribute('tabindex', i === index ? 0 : -1);
    });
    if (focus) this.dots[index].dot.focus();
    this.onSelect(this.dots[index].point);
  }
  key(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by && event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    const here = Math.max(0, this.dots.findIndex(({ dot }) => dot === document.activeElement));
    this.choose((here + (by || 0) + this.dots.length) % this.dots.length, true);
  }
  // Marks a budget that is tried, and what it gets.
  show(bytes, point) {
    this.band.setAttribute('x1', this.x(bytes));
    this.band.setAttribute('x2', this.x(bytes));
    this.dots.forEach(({ dot, point: of }) => dot.classList.toggle('offered', of === point));
  }
}

// Plans in columns; every figure of a further column beside how far it is from the first.
function plansTable(columns) {
  const rows = [
    ['Step', (plan) => plan.step_ns, duration], ['computing', (plan) => plan.compute_ns, duration],
    ['waiting', (plan) => plan.stall_ns, duration], ['On the device at most', (plan) => plan.on_device_bytes, size],
    ['On the host at most', (plan) => plan.host_peak_bytes, size], ['pinned', (plan) => plan.host_pinned_peak_bytes, size],
  ];
  const head = element('tr', {}, element('td', {}), ...columns.map(({ title, plan }) =>
    element('th', { scope: 'col' }, title, element('small', {}, plan.words))));
  const body = rows.map(([name, of, words]) => element('tr', {}, element('th', { scope: 'row', class: name[0] === name[0].toLowerCase() ? 'part' : '' }, name),
    ...columns.map(({ plan }, i) => element('td', { class: 'number' }, words(of(plan)),
      i > 0 ? element('small', {}, change(of(plan), of(columns[0].plan))) : undefined))));
  return element('table', {}, element('caption', {}, 'Plans side by side'), element('thead', {}, head), element('tbody', {}, ...body));
}
