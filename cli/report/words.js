// The data of the page, and its words in the reader's language.

const data = JSON.parse(document.getElementById('data').textContent);

const laneWords = { compute: 'compute', h2d: 'to device', d2h: 'to host', disk_read: 'from disk', disk_write: 'to disk' };

// What a span does, and the colour group that it belongs to.
const stepWords = {
  prologue: ['before the blocks', 'around'],
  forward: ['forward', 'forward'],
  epilogue: ['loss', 'around'],
  recompute: ['recompute', 'recompute'],
  backward: ['backward', 'backward'],
  optimizer: ['optimizer', 'around'],
  store_saved: ['store activation', 'activations'],
  restore_saved: ['restore activation', 'activations'],
  store_input: ['store block input', 'activations'],
  restore_input: ['restore block input', 'activations'],
  load_weights: ['load weights', 'weights'],
  store_weights: ['store weights', 'weights'],
  store_gradient: ['store gradients', 'states'],
  load_state: ['load optimizer state', 'states'],
  store_state: ['store optimizer state', 'states'],
};

const groupWords = {
  forward: 'forward', backward: 'backward', recompute: 'recomputed forward', around: 'loss, optimizer',
  activations: 'activations travel', weights: 'weights travel', states: 'optimizer states travel', wait: 'compute waits',
};

const kindWords = {
  resident: 'always there', optimizer_state: 'optimizer state', weights: 'weights', activation: 'activations between blocks',
  activation_gradient: 'their gradients', saved: 'saved for the backward', workspace: 'workspace', gradient: 'parameter gradients',
  checkpoint: 'checkpoint file',
};

const causeWords = {
  restore: ['Activations on their way back', 'More prefetch, or offload less.'],
  weights: ['Weights on their way', 'More prefetch, or swap fewer blocks.'],
  store: ['What it needs was still going out', 'Fewer bytes to the host, or recompute some blocks instead.'],
  drain: ['Copies after the last computation', 'Less to store at the end of the step.'],
  pageable: ['A copy whose host memory is not pinned', 'More pinned memory, or offload less.'],
  pinning: ['Host memory being pinned', 'It is there from the second step on; else allow more buckets.'],
  disk: ['Data on its way from the disk', 'More host memory, or offload less.'],
};

const startsWithCapital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Names that tell blocks apart are said beside the number; "block" twenty times, or "block.7" of block 7, are not.
const toldApart = data.blocks && new Set(data.blocks.map((block) => block.name)).size > 1;

function blockName(block) {
  const known = toldApart && data.blocks[block];
  return known && known.name !== `block.${block}` ? `${block} (${known.name})` : `${block}`;
}

// An element with text and children; text is never read as markup.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

// Columns of differences, summed up again.
function running(steps) {
  const sums = new Float64Array(steps.length);
  let sum = 0;
  for (let i = 0; i < steps.length; ++i) sums[i] = sum += steps[i];
  return sums;
}

const curveOf = (columns) => columns && { at: running(columns.at), bytes: running(columns.bytes) };

// The index of the last entry that is not above `value`; -1 before the first.
function lastAtMost(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const levelAt = (curve, time) => {
  const index = lastAtMost(curve.at, time);
  return index < 0 ? 0 : Math.max(0, curve.bytes[index]);
};

function peakOf(curve) {
  let best = { at: 0, bytes: 0 };
  for (let i = 0; i < curve.at.length; ++i)
    if (curve.bytes[i] > best.bytes) best = { at: curve.at[i], bytes: curve.bytes[i] };
  return best;
}
