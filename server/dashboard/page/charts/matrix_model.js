/** A confusion matrix as numbers: shares, sums, orders, the largest mistakes. No drawing. */

/** What a cell shows; each a share of something, but for the counts. */
export const SHOWN = [
  ['counts', 'Counts'],
  ['recall', 'Share of the true class (recall)'],
  ['precision', 'Share of what was predicted (precision)'],
  ['total', 'Share of all'],
];

/** @returns {string[][]} orders of the classes; word: what one sample is called */
export const ordersOf = (word) => [
  ['data', 'As in the data set'],
  ['name', 'By name'],
  ['recall', 'Lowest recall first'],
  ['support', `Most ${word}s first`],
];

/**
 * @param {{classes: string[], cells: number[][], total: number, unclassified: number, accuracy: ?number}} matrix the sparse form of the API
 * @returns {Object} the matrix with sums by class; `at(true, predicted)` counts
 */
export function modelOf({part, classes, cells, total, unclassified, accuracy}) {
  const n = classes.length;
  const rows = new Array(n).fill(0);
  const columns = new Array(n).fill(0);
  const right = new Array(n).fill(0);
  const counts = new Map();
  for (const [t, p, k] of cells) {
    rows[t] += k;
    columns[p] += k;
    right[t] += t === p ? k : 0;
    counts.set(t * n + p, k);
  }
  const mistakes = cells.filter(([t, p]) => t !== p).sort((a, b) => b[2] - a[2]);
  return {
    part, classes, cells, total, unclassified, accuracy, rows, columns, right, mistakes, size: n,
    at: (t, p) => counts.get(t * n + p) ?? 0,
    largest: cells.reduce((most, [, , k]) => Math.max(most, k), 0),
  };
}

function share(part, whole) {
  return whole > 0 ? part / whole : null;
}

/** @returns {?number} of a class: the share of its samples that was found; null without samples */
export const recall = (model, k) => share(model.right[k], model.rows[k]);

/** @returns {?number} of a class: the share of what was taken for it that is it */
export const precision = (model, k) => share(model.right[k], model.columns[k]);

/** @returns {number[]} classes that occur, but that no sample was taken for */
export const neverPredicted = (model) => model.classes.map((_, k) => k).filter((k) => model.rows[k] > 0 && model.columns[k] === 0);

/** @returns {?number} what a cell shows: a count, or a share of one; null: there is nothing to share */
export function cellValue(model, shown, t, p) {
  const k = model.at(t, p);
  const whole = {recall: model.rows[t], precision: model.columns[p], total: model.total}[shown];
  return shown === 'counts' ? k : share(k, whole);
}

/** @returns {number} how strongly a share of the largest value is coloured: small ones must be seen */
export const valueStrength = (share) => Math.sqrt(share);

/** @returns {number} how strongly a cell is coloured, from 0 to 1 */
export function cellStrength(model, shown, t, p) {
  const k = model.at(t, p);
  if (k === 0) {
    return 0;
  }
  const scaled = shown === 'counts' || shown === 'total' ? k / model.largest : cellValue(model, shown, t, p);
  return valueStrength(scaled);
}

const ASCENDING = new Intl.Collator(undefined, {numeric: true});

/** @returns {number[]} the classes in an order; equal ones stay as in the data set */
export function orderOf(model, order) {
  const places = model.classes.map((_, k) => k);
  const rank = {
    name: (a, b) => ASCENDING.compare(model.classes[a], model.classes[b]),
    recall: (a, b) => (recall(model, a) ?? 2) - (recall(model, b) ?? 2),
    support: (a, b) => model.rows[b] - model.rows[a],
  }[order];
  return rank ? places.sort(rank) : places;
}

/** The classes whose names hold the text, and those that they are taken for or that are taken for them. */
export function filterOf(model, places, text) {
  const wanted = text.trim().toLocaleLowerCase();
  if (!wanted) {
    return places;
  }
  const found = new Set(places.filter((k) => model.classes[k].toLocaleLowerCase().includes(wanted)));
  const near = new Set(found);
  for (const [t, p] of model.mistakes) {
    if (found.has(t) || found.has(p)) {
      near.add(t).add(p);
    }
  }
  return places.filter((k) => near.has(k));
}
