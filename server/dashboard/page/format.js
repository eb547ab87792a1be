/** Numbers, times and names as people read them. Every function takes null and what is not finite. */

const NONE = '–';
const NAMED = {NaN: 'NaN', Infinity: '∞', '-Infinity': '−∞'};

/** The API names what JSON has no number for. */
function named(x) {
  if (x === null || x === undefined || x === '') {
    return NONE;
  }
  const text = typeof x === 'number' ? String(x) : x;
  return NAMED[text] ?? null;
}

/** @returns {string} four digits that count, e.g. "0.9321", "1234", "1.2e-5" */
export function number(x) {
  const word = named(x);
  if (word !== null) {
    return word;
  }
  const value = Number(x);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    return value.toExponential(2).replace('e+', 'e').replace('-', '−').replace('e-', 'e−');
  }
  const text = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
  return text.replace('-', '−');
}

/** @returns {string} a share of one, e.g. "93.2 %" */
export function percent(x) {
  const word = named(x);
  return word ?? `${(Number(x) * 100).toFixed(1)} %`;
}

/** @returns {string} e.g. "0.91 – 0.95"; "" where there is no interval */
export function interval(low, high) {
  const absent = named(low) === NONE || named(high) === NONE;
  return absent ? '' : `${number(low)} – ${number(high)}`;
}

/** @returns {string} of seconds, e.g. "3.2 s", "4 min 05 s", "2 h 10 min", "3 d 4 h" */
export function duration(seconds) {
  const word = named(seconds);
  if (word !== null) {
    return word;
  }
  const s = Number(seconds);
  const two = (n) => String(Math.floor(n)).padStart(2, '0');
  if (s < 60) {
    return `${s < 10 ? Number(s.toFixed(1)) : Math.round(s)} s`;
  }
  if (s < 3600) {
    return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  }
  return s < 86400
    ? `${Math.floor(s / 3600)} h ${two((s % 3600) / 60)} min`
    : `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** @returns {string} an instant in the reader's own zone, e.g. "2026-12-01 14:03:22" */
export function time(rfc3339) {
  const instant = new Date(rfc3339 ?? NaN);
  if (Number.isNaN(instant.getTime())) {
    return NONE;
  }
  const two = (n) => String(n).padStart(2, '0');
  const day = [instant.getFullYear(), two(instant.getMonth() + 1), two(instant.getDate())];
  const clock = [instant.getHours(), instant.getMinutes(), instant.getSeconds()].map(two);
  return `${day.join('-')} ${clock.join(':')}`;
}

/** @returns {string} how long ago, e.g. "just now", "5 min ago", "3 d ago" */
export function ago(rfc3339, now = Date.now()) {
  const instant = new Date(rfc3339 ?? NaN).getTime();
  if (Number.isNaN(instant)) {
    return NONE;
  }
  const minutes = Math.floor((now - instant) / 60000);
  if (minutes < 1) {
    return 'just now';
  }
  const hours = Math.floor(minutes / 60);
  return minutes < 60 ? `${minutes} min ago` : hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

/** @returns {string} e.g. "912 B", "1.3 MB" */
export function bytes(n) {
  const word = named(n);
  if (word !== null) {
    return word;
  }
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Number(n);
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** @returns {string} a whole number with thin spaces between thousands */
export function count(n) {
  const word = named(n);
  return word ?? String(Math.trunc(Number(n))).replace(/\B(?=(\d{3})+$)/g, '\u202f').replace('-', '−');
}

/** @returns {string} a noun alone for so many: "file" for one, else "files" */
export function nounOf(n, noun, many = `${noun}s`) {
  return Number(n) === 1 ? noun : many;
}

/** @returns {string} "1 file", "2 files"; `many` for what takes no s: "2 classes" */
export function plural(n, noun, many) {
  return `${count(n)} ${nounOf(n, noun, many)}`;
}

/** @returns {string} a text as it ends a sentence */
export function ended(text) {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** @returns {string} a text as it begins a sentence */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const SHORT = {rmse: 'RMSE', rul: 'RUL', mae: 'MAE', r2: 'R²', f1: 'F1', phm08: 'PHM08', auc: 'AUC', lr: 'learning rate'};

/** @returns {string} "validation_macro_f1" as "validation macro F1", within a sentence */
export function metricWords(key) {
  return String(key).split('_').filter(Boolean).map((word) => SHORT[word] ?? word).join(' ');
}

/** @returns {string} the same at the beginning of one: "Validation macro F1" */
export function metricName(key) {
  return capital(metricWords(key));
}

/** @returns {string} a value of a sweep or an option: texts as they are, the rest as compact JSON */
export function value(x) {
  if (x === null || x === undefined) {
    return NONE;
  }
  return typeof x === 'string' ? x : typeof x === 'number' ? number(x) : JSON.stringify(x);
}
