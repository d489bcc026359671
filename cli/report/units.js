// Figures as people read them: three digits that matter, as the command line has them.

const noBreak = '\u00a0';

function threeDigits(amount, unit) {
  const digits = amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0;
  return amount.toFixed(digits) + noBreak + unit;
}

function scaled(value, base, units) {
  const sign = value < 0 ? '−' : '';
  let amount = Math.abs(value), unit = 0;
  if (amount < base) return sign + Math.round(amount) + noBreak + units[0];
  while (amount >= base * 0.9995 && unit + 1 < units.length) {
    amount /= base;
    unit += 1;
  }
  return sign + threeDigits(amount, units[unit]);
}

const duration = (ns) => scaled(ns, 1000, ['ns', 'µs', 'ms', 's']);
const size = (bytes) => scaled(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const rate = (bytes, ns) => (ns > 0 ? scaled((bytes * 1e9) / ns, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']) : '');

function percent(share) {
  const percents = share * 100;
  return percents.toFixed(Math.abs(percents) < 9.95 ? 1 : 0) + noBreak + '%';
}

// How far `value` is from `from`, with a sign; nothing where there is nothing to compare with.
function change(value, from) {
  if (value === from) return '±0' + noBreak + '%';
  if (!from) return '';
  return (value > from ? '+' : '−') + percent(Math.abs(value - from) / from);
}
