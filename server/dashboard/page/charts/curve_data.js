/** What a chart of curves draws, as numbers: no element, no canvas. */

/** The API writes numbers that are not finite by name. */
function numeric(value) {
  return typeof value === 'number' ? value : value === null ? NaN : Number(value);
}

/**
 * A curve as it is kept here.
 * @param {{step: number[], value: (number|string)[], total: number}} column as the API gives it
 * @returns {{steps: number[], values: number[], total: number}}
 */
export function curveOf({step, value, total}) {
  return {steps: step, values: value.map(numeric), total};
}

/**
 * Mean of what lies before a point, weighted by how near it is; `weight` 0 changes nothing. What is
 * not finite is passed over, so that one NaN does not swallow the rest.
 */
export function smoothed(values, weight) {
  let sum = 0;
  let share = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) {
      return value;
    }
    sum = weight * sum + (1 - weight) * value;
    share = weight * share + (1 - weight);
    return sum / share;
  });
}

/** A gap is NaN; null would be a point that another curve has and this one has not. */
function drawable(value, isLog) {
  return Number.isFinite(value) && !(isLog && value <= 0) ? value : NaN;
}

/**
 * Columns of values by their own steps as one table of rows, as the library wants them.
 * @param {{steps: number[], values: number[]}[]} columns
 * @returns {(number|null)[][]} [step, a value for each column]; never a single row, for which there is no scale
 */
export function rowsOf(columns, isLog) {
  const rows = new Map();
  columns.forEach(({steps, values}, k) => {
    for (let i = 0; i < steps.length; i++) {
      let row = rows.get(steps[i]);
      if (!row) {
        row = new Array(columns.length + 1).fill(null);
        row[0] = steps[i];
        rows.set(steps[i], row);
      }
      row[k + 1] = drawable(values[i], isLog);
    }
  });
  const table = [...rows.values()].sort((a, b) => a[0] - b[0]);
  if (table.length !== 1) {
    return table;
  }
  const [[step]] = table;
  const empty = new Array(columns.length).fill(null);
  return [[step - 1, ...empty], ...table, [step + 1, ...empty]];
}

/** Index of the last step at or before one; -1: there is none. */
function indexAt(steps, step) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

/**
 * The point of a curve at a step, or the last one before it.
 * @param {?number} step null: the last of all
 * @returns {?{step: number, value: number}}
 */
export function pointAt({steps, values}, step = null) {
  const i = step === null ? steps.length - 1 : indexAt(steps, step);
  return i < 0 ? null : {step: steps[i], value: values[i]};
}

/** @returns {{low: number, high: number}} of the finite values; NaN where there is none */
export function extremes({values}) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? {low, high} : {low: NaN, high: NaN};
}

/**
 * What of a curve cannot be drawn and is marked instead.
 * @returns {{step: number, kind: 'nan'|'up'|'down'}[]}
 */
export function oddPoints({steps, values}, isLog) {
  const odd = [];
  for (let i = 0; i < steps.length; i++) {
    const value = values[i];
    if (Number.isNaN(drawable(value, isLog))) {
      odd.push({step: steps[i], kind: Number.isNaN(value) ? 'nan' : value > 0 ? 'up' : 'down'});
    }
  }
  return odd;
}
