// Puts the page together.

const byId = (id) => document.getElementById(id);
const runs = data.timelines.map((run) => new RunLanes(run));
const lastTimes = runs.flatMap((run, i) => [data.timelines[i].step_ns, ...run.lanes.flatMap((lane) => (lane.rows.length ? [run.end(lane.rows[lane.rows.length - 1])] : []))]);
const axis = new TimeAxis(Math.max(...lastTimes));
const stacksOf = (space) => data.timelines.map((run) => new MemoryStack(run, space));
const drawings = [];  // what must be made anew with another width or theme

// A heading with what it stands over goes where there is nothing to show.
function drop(id) {
  byId(id).remove();
  document.querySelector(`nav a[href="#${id}"]`).remove();
}

function figure(name, value, notes, meter) {
  return element('div', {}, element('dt', {}, name), element('dd', {}, value, ...notes.map((note) => element('small', {}, note)), meter));
}

function showFigures(device, host) {
  const first = data.timelines[0], others = data.timelines.slice(1);
  const beside = (of, words) => others.map((run) => `${run.title} ${words(of(run))}, ${change(of(run), of(first)) || 'from nothing'}`);
  const stall = (run) => run.step_ns - run.compute_ns;
  const budget = data.device_budget_bytes, peak = device[0].peak.bytes;
  const full = budget && element('div', { class: 'meter' }, element('i', { class: peak > budget ? 'over' : 'first', style: `width: ${Math.min(100, (100 * peak) / budget)}%` }));
  const peaks = (stacks) => stacks.slice(1).map((stack) => `${stack.title} ${size(stack.peak.bytes)}, ${change(stack.peak.bytes, stacks[0].peak.bytes) || 'from nothing'}`);
  byId('figures').append(
    figure('Step', duration(first.step_ns), beside((run) => run.step_ns, duration)),
    figure('Waiting', duration(stall(first)), [`${percent(stall(first) / Math.max(1, first.step_ns))} of the step`, ...beside(stall, duration)]),
    figure('Device peak', size(peak), [...(budget ? [`of ${size(budget)}`] : []), ...peaks(device)], full || undefined),
    figure('Host peak', size(host[0].peak.bytes), peaks(host)));
}

function showLanes() {
  const chart = new LaneChart(byId('lanes'), axis, runs);
  const groups = new Set(runs.flatMap((run) => run.spans.kind.map((kind) => stepWords[data.steps[kind]][1])));
  if (runs.some((run) => run.stalls.length > 0)) groups.add('wait');
  byId('lane-legend').append(...legend([...Object.keys(groupWords)].filter((group) => groups.has(group)), groupWords, ''));
  if (runs.some((run) => run.compared))
    byId('lane-legend').append(element('span', {}, swatch('longer', 'thin'), 'longer than predicted'), element('span', {}, swatch('shorter', 'thin'), 'shorter'));
  if (groups.size === 0) byId('span-detail').textContent = 'The timeline is empty: it has no spans.';
  byId('zoom-in').addEventListener('click', () => axis.zoom(2));
  byId('zoom-out').addEventListener('click', () => axis.zoom(0.5));
  byId('zoom-all').addEventListener('click', () => axis.all());
  return chart;
}

function showGaps(chart) {
  const gaps = largestGaps(runs, 5);
  if (gaps.length === 0) return;
  const rows = gaps.map(({ run, row, longer }) => {
    const button = element('button', { type: 'button' }, run.titleOf(row));
    button.addEventListener('click', () => chart.reveal(run, row));
    const took = run.spans.length[row];
    return element('tr', {}, element('th', { scope: 'row' }, button), ...[duration(took - longer), duration(took), (longer > 0 ? '+' : '') + duration(longer), change(took, took - longer)]
      .map((text) => element('td', { class: 'number' }, text)));
  });
  byId('gaps').append(element('details', {}, element('summary', {}, 'Where it differs most from what was predicted'),
    element('table', {}, element('caption', {}, 'Largest differences'), element('thead', {}, element('tr', {}, ...['Step', 'Predicted', 'Measured', 'Longer by', '']
      .map((title, i) => element(title ? 'th' : 'td', title ? { scope: 'col', class: i ? 'number' : '' } : {}, title)))), element('tbody', {}, ...rows))));
}

function showMemory(spaces) {
  const place = byId('memory-charts'), charts = [];
  for (const [space, stacks] of Object.entries(spaces)) {
    if (stacks.every((stack) => stack.peak.bytes === 0)) continue;
    const holder = element('div', { class: 'chart', role: 'img', 'aria-label': `Memory on the ${space} over time; the table below says what its peak is made of` }, element('canvas', {}));
    const keys = element('div', { class: 'legend' }), words = element('div', {});
    place.append(keys, holder, words);
    charts.push({ chart: new MemoryChart(holder, axis, stacks, space === 'device' ? data.device_budget_bytes : undefined), keys, words, space });
  }
  if (charts.length === 0) place.append(element('p', {}, 'The timeline says nothing about memory.'));
  const choose = (shown) => {
    for (const each of charts) tell(each, shown);
    byId('memory-choice').querySelectorAll('button').forEach((button, i) => button.setAttribute('aria-pressed', i === shown));
    axis.changed();
  };
  if (runs.length > 1)
    runs.forEach((run, i) => {
      const button = element('button', { type: 'button' }, startsWithCapital(run.title));
      button.addEventListener('click', () => choose(i));
      byId('memory-choice').append(button);
    });
  choose(0);
}

function tell({ chart, keys, words, space }, shown) {
  chart.shown = shown;
  const kinds = chart.stack.layers.map(({ kind }) => kind).filter((kind) => kind !== 'total');
  keys.replaceChildren(...kinds.map((kind) => element('span', {}, swatch('kind-' + kind.replace('_', '-')), kindWords[kind])),
    ...chart.stack.lines.map((line) => element('span', {}, swatch('line-over', 'thin'), line.name)),
    ...chart.stacks.filter((stack) => stack !== chart.stack).map((stack) => element('span', {}, swatch('ink', 'dashed'), stack.title)));
  const explained = explainPeak(chart.stack, runs[shown], space === 'device' ? data.device_budget_bytes : undefined);
  words.replaceChildren(...(explained ? [explained] : []));
}

function showBudgets() {
  if (!data.frontier || data.frontier.length === 0) return drop('budgets');
  const budgets = new Budgets(), slider = byId('budget');
  const same = (a, b) => a && b && a.words === b.words && a.step_ns === b.step_ns;
  const side = (selected) => {
    const columns = [{ title: 'Keep everything', plan: budgets.keep }];
    if (budgets.plan) columns.push({ title: 'This plan', plan: budgets.plan });
    if (selected && !same(selected, budgets.keep) && !same(selected, budgets.plan)) columns.push({ title: 'Chosen', plan: selected });
    byId('plans').replaceChildren(plansTable(columns));
    if (columns.length === 3 && selected.flags) byId('plans').append(copyBox({ title: 'The chosen one, as flags of stowage', text: selected.flags }));
  };
  const chart = new FrontierChart(byId('frontier'), budgets, side);
  const attempt = () => {
    const bytes = Number(slider.value), best = budgets.within(bytes);
    byId('budget-value').textContent = size(bytes);
    slider.setAttribute('aria-valuetext', size(bytes));
    byId('budget-answer').textContent = best ? `${startsWithCapital(best.words)}: ${duration(best.step_ns)} a step, ${size(best.on_device_bytes)} at the peak` +
      (budgets.keep.step_ns < best.step_ns ? `, ${change(best.step_ns, budgets.keep.step_ns)} against keeping everything.` : '.') : 'Nothing in this file fits so little.';
    chart.show(bytes, best);
    side(best || budgets.plan);
  };
  slider.addEventListener('input', attempt);
  Object.assign(slider, { min: budgets.least, max: budgets.most, step: 'any', value: data.device_budget_bytes || budgets.most });
  attempt();
  drawings.push(() => { chart.draw(); attempt(); });
}

function showBlocks(chart) {
  const table = new BlockTable(byId('block-table'), runs, (block) => {
    const run = runs.find((each) => each.spans.block.includes(block));
    if (!run) return;
    chart.reveal(run, run.spans.block.indexOf(block));
    byId('lanes').focus();
    byId('step').scrollIntoView();
  });
  if (table.blocks.length === 0) return drop('blocks');
  chart.onSelect = (block) => table.mark(block);
}

function listenToTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)'), root = document.documentElement, button = byId('theme');
  const isDark = () => (root.dataset.theme || (system.matches ? 'dark' : 'light')) === 'dark';
  const redraw = () => {
    themeChanged();
    button.textContent = isDark() ? 'Light' : 'Dark';
    for (const draw of drawings) draw();
    axis.listeners.forEach((draw) => draw());
  };
  button.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; redraw(); });
  system.addEventListener('change', redraw);
  let before = null;
  addEventListener('beforeprint', () => { before = root.dataset.theme; root.dataset.theme = 'light'; redraw(); });
  addEventListener('afterprint', () => { before ? (root.dataset.theme = before) : delete root.dataset.theme; redraw(); });
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
  redraw();
}

const memory = { device: stacksOf('device'), host: stacksOf('host') };
showFigures(memory.device, memory.host);
const laneChart = showLanes();
showGaps(laneChart);
showMemory(memory);
showBudgets();
byId('stalls').append(stallsTable(runs, data.timelines));
if (data.texts.length > 0) byId('texts').append(...data.texts.map(copyBox));
else drop('copy');
listenToTheme();
// After the first view: a thousand rows take as long as all the rest.
requestAnimationFrame(() => setTimeout(() => showBlocks(laneChart)));
