// Waiting by cause, blocks, and texts to copy.

function stallTotals(run) {
  const totals = {};
  run.stalls.forEach((stall) => (totals[stall.cause] = (totals[stall.cause] || 0) + stall.length));
  return totals;
}

function stallsTable(lanes, runs) {
  const totals = lanes.map(stallTotals);
  const causes = data.causes.filter((cause) => totals.some((each) => each[cause]));
  if (causes.length === 0) return element('p', {}, 'Nothing: the compute lane never stood still.');
  const most = Math.max(...totals.flatMap((each) => Object.values(each)));
  const bar = (ns, i) => element('td', {}, element('div', { class: 'meter' },
    element('i', { class: i === 0 ? 'first' : '', style: `width: ${(100 * ns) / most}%` })),
    element('span', {}, `${duration(ns)}, ${percent(ns / Math.max(1, runs[i].step_ns))} of the step`));
  const rows = causes.map((cause) => element('tr', {}, element('th', { scope: 'row' }, causeWords[cause][0], element('small', {}, causeWords[cause][1])),
    ...totals.map((each, i) => bar(each[cause] || 0, i))));
  return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Waiting by cause' },
    element('table', {}, element('caption', {}, 'Waiting by cause'),
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Cause'), ...runs.map((run) => element('th', { scope: 'col' }, startsWithCapital(run.title))))),
      element('tbody', {}, ...rows)));
}

const noTimes = { forward: 0, recompute: 0, backward: 0, waited: 0 };

// What each block took in a run: forward, recompute and backward time, and what its steps waited.
function blockTimes(run) {
  const blocks = new Map();
  const at = (block) => blocks.get(block) || blocks.set(block, { ...noTimes }).get(block);
  run.spans.kind.forEach((_, row) => {
    const kind = run.kind(row), block = run.spans.block[row];
    if (block !== null && kind in { forward: 1, recompute: 1, backward: 1 }) at(block)[kind] += run.spans.length[row];
  });
  run.stalls.forEach((stall) => stall.block !== null && (at(stall.block).waited += stall.length));
  return blocks;
}

class BlockTable {
  constructor(holder, runs, onChoose) {
    Object.assign(this, { holder, runs, onChoose, order: 0, falling: false });
    this.times = runs.map(blockTimes);
    const known = data.blocks ? data.blocks.keys() : [];  // a timeline may count them as it likes
    this.blocks = [...new Set([...known, ...this.times.flatMap((run) => [...run.keys()])])].sort((a, b) => a - b);
    this.columns = this.columnsOf();
    this.draw();
  }
  columnsOf() {
    const known = (block) => data.blocks[block] || { plan: '', saved_bytes: 0, weight_bytes: 0 };
    const time = (i, what) => (block) => (this.times[i].get(block) || noTimes)[what];
    const columns = [{ title: 'Block', of: (block) => block, show: (block) => blockName(block), fixed: true }];
    if (data.blocks && data.plan) columns.push({ title: 'Plan', of: (block) => known(block).plan, words: true });
    const phases = ['forward', 'recompute', 'backward', 'waited'].filter((phase) => this.times.some((run) => [...run.values()].some((block) => block[phase])));
    for (const phase of phases) columns.push({ title: startsWithCapital(phase), of: time(0, phase), unit: duration, beside: this.runs.length > 1 && time(1, phase) });
    if (this.runs.length > 1) columns.push({ title: 'Computing longer by', of: (block) => this.longer(block), unit: duration, note: (block) => this.longerShare(block) });
    if (data.blocks) columns.push({ title: 'Saved', of: (block) => known(block).saved_bytes, unit: size }, { title: 'Weights', of: (block) => known(block).weight_bytes, unit: size });
    return columns;
  }
  computing(run, block) {
    const { forward, recompute, backward } = run.get(block) || noTimes;
    return forward + recompute + backward;
  }
  longer(block) { return this.computing(this.times[1], block) - this.computing(this.times[0], block); }
  longerShare(block) {
    const predicted = this.computing(this.times[0], block);
    return change(predicted + this.longer(block), predicted);
  }
  draw() {
    const { of } = this.columns[this.order], sign = this.falling ? -1 : 1;
    const sorted = [...this.blocks].sort((a, b) => (of(a) < of(b) ? -sign : of(a) > of(b) ? sign : a - b));
    this.rows = new Map(sorted.map((block) => [block, this.row(block)]));
    this.holder.replaceChildren(element('table', {}, element('caption', {}, 'Blocks'),
      element('thead', {}, element('tr', {}, ...this.columns.map((column, i) => this.head(column, i)))),
      element('tbody', {}, ...this.rows.values())));
    this.mark(this.marked);
  }
  head(column, i) {
    const button = element('button', { type: 'button' }, column.title);
    button.addEventListener('click', () => {
      this.falling = this.order === i ? !this.falling : i > 0 && !column.words;
      this.order = i;
      this.draw();
      this.holder.querySelectorAll('thead button')[i].focus();
    });
    const sorted = this.order === i ? (this.falling ? 'descending' : 'ascending') : undefined;
    return element('th', { scope: 'col', 'aria-sort': sorted, class: column.unit ? 'number' : '' }, button);
  }
  row(block) {
    return element('tr', {}, ...this.columns.map((column) => (column.fixed ? this.headOf(block, column) : this.cell(block, column))));
  }
  headOf(block, column) {
    const button = element('button', { type: 'button', title: 'Show it in the timeline' }, column.show(block));
    button.addEventListener('click', () => this.onChoose(block));
    return element('th', { scope: 'row' }, button);
  }
  cell(block, { of, unit, beside, note }) {
    if (!unit) return element('td', {}, of(block));
    const notes = [];
    if (beside) notes.push(`${this.runs[1].title} ${unit(beside(block))}`);
    if (note) notes.push(note(block));
    return element('td', { class: 'number' }, unit(of(block)), ...notes.map((text) => element('small', {}, text)));
  }
  mark(block) {
    this.marked = block;
    for (const [of, row] of this.rows) row.classList.toggle('marked', of === block);
  }
}

async function copyText(text, area) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const selection = getSelection(), range = document.createRange();
    range.selectNodeContents(area);
    selection.removeAllRanges();
    selection.addRange(range);
    if (!document.execCommand('copy')) return false;
    selection.removeAllRanges();
  }
  return true;
}

function copyBox({ title, text }) {
  const area = element('pre', { tabindex: 0, role: 'region', 'aria-label': title }, text);
  const button = element('button', { type: 'button', 'aria-label': 'Copy: ' + title }, 'Copy');
  const said = element('span', { role: 'status' });
  button.addEventListener('click', async () => {
    said.textContent = (await copyText(text, area)) ? 'Copied.' : 'Select the text and copy it.';
    setTimeout(() => (said.textContent = ''), 3000);
  });
  return element('div', { class: 'copybox' }, element('div', { class: 'head' }, element('h3', {}, title), element('div', { class: 'tools' }, said, button)), area);
}
