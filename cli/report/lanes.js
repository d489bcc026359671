// The timeline: lanes of each run, one run above the other on one axis.

// A run's spans by lane and in order, with all that is asked of them.
class RunLanes {
  constructor(run) {
    this.title = run.title;
    this.spans = run.spans;
    this.begin = running(run.spans.begin);
    this.lanes = [];
    data.lanes.forEach((name, lane) => {
      const rows = [];
      run.spans.lane.forEach((of, row) => of === lane && rows.push(row));
      rows.sort((a, b) => this.begin[a] - this.begin[b]);
      if (rows.length > 0 || name === 'compute')
        this.lanes.push({ name, rows, begins: Float64Array.from(rows, (row) => this.begin[row]) });
    });
    const begins = running(run.stalls.begin);
    this.stalls = run.stalls.cause.map((cause, i) => ({
      cause: data.causes[cause], block: run.stalls.block[i], begin: begins[i], length: run.stalls.length[i],
    }));
    this.stallBegins = Float64Array.from(this.stalls, (stall) => stall.begin);
    this.compared = run.spans.predicted.some((predicted) => predicted !== null);
  }
  kind(row) { return data.steps[this.spans.kind[row]]; }
  end(row) { return this.begin[row] + this.spans.length[row]; }
  // What went otherwise than predicted, in nanoseconds; null where nothing was predicted.
  longer(row) {
    const predicted = this.spans.predicted[row];
    return predicted === null ? null : this.spans.length[row] - predicted;
  }
  // The row that runs at this time, or ends last before it.
  rowAt(lane, time) {
    const index = lastAtMost(lane.begins, time);
    return index < 0 ? null : lane.rows[index];
  }
  titleOf(row) { return startsWithCapital(this.wordsOf(row)); }
  wordsOf(row) {
    const block = this.spans.block[row], layer = this.spans.layer[row];
    return stepWords[this.kind(row)][0] + (block === null ? '' : ' of block ' + blockName(block)) +
      (layer === null ? '' : ', layer ' + layer) + (this.spans.pageable[row] ? ' (pageable)' : '');
  }
  facts(row) {
    const length = this.spans.length[row], bytes = this.spans.bytes[row], longer = this.longer(row);
    const facts = [`${this.title}: ${duration(length)}, from ${duration(this.begin[row])} to ${duration(this.end(row))}`];
    if (bytes) facts.push(`${size(bytes)} at ${rate(bytes, length)}`);
    if (longer !== null)
      facts.push(`predicted ${duration(length - longer)} (${change(length, length - longer) || 'not comparable'})`);
    else if (this.compared) facts.push('not predicted');
    return facts;
  }
}

const laneHeight = (lane) => (lane.name === 'compute' ? 26 : 16);
const laneGap = 5, axisHeight = 24, runGap = 22, strip = 5;

class LaneChart {
  constructor(holder, axis, runs) {
    Object.assign(this, { holder, axis, runs, selected: null });
    this.place();
    axis.listen(() => this.draw());
    listenToZoom(holder, axis, (event) => this.hover(event), (event) => this.select(this.hit(event)));
    holder.addEventListener('keydown', (event) => this.key(event));
  }
  // Where each lane is drawn.
  place() {
    let top = axisHeight;
    this.rows = [];
    for (const run of this.runs) {
      top += 18;
      run.top = top;
      for (const lane of run.lanes) {
        this.rows.push({ run, lane, top, height: laneHeight(lane) });
        top += laneHeight(lane) + laneGap + (lane.name === 'compute' && run.compared ? strip + 2 : 0);
      }
      top += runGap - 18;
    }
    this.height = top;
  }
  draw() {
    paint(this.holder, this.height, (context, width) => {
      paintTicks(context, this.axis, width, axisHeight, this.height, true);
      for (const run of this.runs) this.drawTitle(context, run);
      for (const row of this.rows) this.drawRow(context, width, row);
      paintBand(context, this.axis, width, axisHeight, this.height);
      paintCursor(context, this.axis, width, axisHeight, this.height);
    });
  }
  drawTitle(context, run) {
    context.textAlign = 'left';
    context.fillStyle = colour('ink');
    context.font = '600 12px system-ui, sans-serif';
    context.fillText(startsWithCapital(run.title), 0, run.top - 10);
    context.font = '12px system-ui, sans-serif';
  }
  drawRow(context, width, { run, lane, top, height }) {
    context.textAlign = 'left';
    context.fillStyle = colour('muted');
    context.fillText(laneWords[lane.name], 0, top + height / 2);
    context.save();
    context.beginPath();
    context.rect(gutter, top - 3, width - gutter - margin, height + strip + 6);
    context.clip();
    context.fillStyle = colour('track');
    context.fillRect(gutter, top, width - gutter - margin, height);
    if (lane.name === 'compute') this.drawStalls(context, width, run, top, height);
    this.drawSpans(context, width, run, lane, top, height);
    context.restore();
  }
  drawStalls(context, width, run, top, height) {
    context.fillStyle = hatching(context);
    for (const stall of run.stalls) {
      const left = this.axis.x(stall.begin, width), right = this.axis.x(stall.begin + stall.length, width);
      if (right > gutter && left < width && right - left > 0.3) context.fillRect(left, top, right - left, height);
    }
  }
  // Spans of less than a pixel beside one that is drawn already are left out.
  drawSpans(context, width, run, lane, top, height) {
    let drawn = -1;
    for (let i = Math.max(0, lastAtMost(lane.begins, this.axis.from)); i < lane.rows.length; ++i) {
      const row = lane.rows[i];
      if (run.begin[row] > this.axis.to) break;
      const left = this.axis.x(run.begin[row], width), right = this.axis.x(run.end(row), width);
      if (right <= drawn || right < gutter) continue;
      drawn = Math.max(right, Math.floor(left) + 1);
      this.drawSpan(context, run, lane, row, left, Math.max(0.75, right - left), top, height);
    }
  }
  drawSpan(context, run, lane, row, left, length, top, height) {
    const group = stepWords[run.kind(row)][1];
    const marked = this.selected && this.selected.run.spans.block[this.selected.row] === run.spans.block[row];
    const gap = length > 4 ? 1 : 0;
    context.fillStyle = colour(group);
    context.globalAlpha = this.selected && !marked ? 0.45 : 1;
    context.fillRect(left, top, length - gap, height);
    context.globalAlpha = 1;
    if (this.selected && this.selected.run === run && this.selected.row === row) {
      context.strokeStyle = colour('ink');
      context.lineWidth = 2;
      context.strokeRect(left - 1, top - 1, length + 2 - gap, height + 2);
      context.lineWidth = 1;
    }
    if (lane.name !== 'compute') return;
    this.drawName(context, run, row, left, length, top + height / 2);
    if (run.compared) this.drawDifference(context, run, row, left, length - gap, top + height + 2);
  }
  drawName(context, run, row, left, length, middle) {
    const block = run.spans.block[row];
    const full = startsWithCapital(stepWords[run.kind(row)][0]) + (block === null ? '' : ' ' + block);
    const text = [full, block === null ? '' : `${block}`].find((each) => context.measureText(each).width + 8 < length);
    if (!text) return;
    context.textAlign = 'center';
    context.fillStyle = colour('on-span');
    context.fillText(text, left + length / 2, middle + 0.5);
  }
  // Longer than predicted, or shorter, by how much of the prediction: from 1 % on, fully from 20 %.
  drawDifference(context, run, row, left, length, top) {
    const longer = run.longer(row);
    const share = longer === null ? 1 : Math.abs(longer) / Math.max(1, run.spans.length[row] - longer);
    if (share < 0.01) return;
    context.globalAlpha = 0.25 + 0.75 * Math.min(1, share / 0.2);
    context.fillStyle = colour(longer === null || longer > 0 ? 'longer' : 'shorter');
    context.fillRect(left, top, length, strip);
    context.globalAlpha = 1;
  }

  // The span under the pointer: within a pixel and a half, so that thin ones can be had.
  hit(event) {
    const box = this.holder.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top, width = this.holder.clientWidth;
    const at = this.rows.find(({ top, height }) => y >= top - 2 && y < top + height + 3);
    if (!at || x < gutter) return null;
    const row = at.run.rowAt(at.lane, this.axis.time(x + 1.5, width));
    if (row === null || this.axis.x(at.run.end(row), width) < x - 1.5) return null;
    return { run: at.run, lane: at.lane, row };
  }
  stallAt(event) {
    const box = this.holder.getBoundingClientRect();
    const y = event.clientY - box.top, time = this.axis.time(event.clientX - box.left, this.holder.clientWidth);
    const at = this.rows.find(({ lane, top, height }) => lane.name === 'compute' && y >= top && y < top + height);
    if (!at) return null;
    const index = lastAtMost(at.run.stallBegins, time);
    const stall = at.run.stalls[index];
    return stall && time < stall.begin + stall.length ? stall : null;
  }
  hover(event) {
    const found = this.hit(event), stall = found ? null : this.stallAt(event);
    this.holder.style.cursor = found ? 'pointer' : 'crosshair';
    if (stall)
      return showTip(event, [element('b', {}, 'Compute waits ' + duration(stall.length)), element('span', {}, causeWords[stall.cause][0])]);
    if (!found) return hideTip();
    showTip(event, [element('b', {}, found.run.titleOf(found.row)), ...found.run.facts(found.row).map((fact) => element('span', {}, fact))]);
  }
  select(found) {
    this.selected = found;
    const detail = document.getElementById('span-detail');
    detail.replaceChildren();
    if (found)
      detail.append(element('b', {}, found.run.titleOf(found.row)), ' ' + found.run.facts(found.row).join(' · '));
    if (this.onSelect) this.onSelect(found ? found.run.spans.block[found.row] : null);
    this.axis.changed();
  }
  // Selects a span and brings it into view with what is around it.
  reveal(run, row) {
    const lane = run.lanes.find((each) => each.rows.includes(row));
    const length = Math.max(run.spans.length[row], 1);
    this.axis.show(run.begin[row] - 3 * length, run.end(row) + 3 * length);
    this.select({ run, lane, row });
  }
  key(event) {
    const actions = {
      '+': () => this.axis.zoom(2, this.focusTime()), '=': () => this.axis.zoom(2, this.focusTime()),
      '-': () => this.axis.zoom(0.5, this.focusTime()), 0: () => this.axis.all(), Escape: () => this.select(null),
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), ArrowDown: () => this.stepLane(1), ArrowUp: () => this.stepLane(-1),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }
  focusTime() { return this.selected ? this.selected.run.begin[this.selected.row] : undefined; }
  step(by) {
    if (!this.selected) return this.selectFirst();
    const { run, lane, row } = this.selected;
    const next = lane.rows[lane.rows.indexOf(row) + by];
    if (next === undefined) return;
    this.select({ run, lane, row: next });
    this.keepInView();
  }
  stepLane(by) {
    if (!this.selected) return this.selectFirst();
    const here = this.rows.findIndex(({ run, lane }) => run === this.selected.run && lane === this.selected.lane);
    const there = this.rows[here + by];
    if (!there || there.lane.rows.length === 0) return;
    const row = there.run.rowAt(there.lane, this.focusTime());
    this.select({ run: there.run, lane: there.lane, row: row === null ? there.lane.rows[0] : row });
    this.keepInView();
  }
  selectFirst() {
    const first = this.rows.find(({ lane }) => lane.rows.length > 0);
    if (first) this.select({ run: first.run, lane: first.lane, row: first.lane.rows[0] });
  }
  keepInView() {
    const { run, row } = this.selected, length = this.axis.to - this.axis.from;
    if (run.begin[row] < this.axis.from || run.end(row) > this.axis.to)
      this.axis.show(run.begin[row] - length / 4, run.begin[row] + (length * 3) / 4);
  }
}

let hatch = null;
function hatching(context) {
  if (hatch && hatch.of === colour('wait')) return hatch.pattern;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const lines = tile.getContext('2d');
  lines.fillStyle = mixed(colour('wait'), 0.16);
  lines.fillRect(0, 0, 6, 6);
  lines.strokeStyle = colour('wait');
  for (const at of [-3, 3, 9]) {
    lines.moveTo(at - 3, 6.5);
    lines.lineTo(at + 4, -0.5);
  }
  lines.stroke();
  hatch = { of: colour('wait'), pattern: context.createPattern(tile, 'repeat') };
  return hatch.pattern;
}

// The spans that went most otherwise than predicted.
function largestGaps(runs, count) {
  const gaps = [];
  for (const run of runs)
    if (run.compared)
      for (let row = 0; row < run.spans.lane.length; ++row) {
        const longer = run.longer(row);
        if (longer) gaps.push({ run, row, longer });
      }
  return gaps.sort((a, b) => Math.abs(b.longer) - Math.abs(a.longer)).slice(0, count);
}
