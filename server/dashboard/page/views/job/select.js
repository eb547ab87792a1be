/** Which rows are shown, and in which order. */

const COMPARISON = /^([\w.]+)(<=|>=|<|>|=)(.+)$/;
const COMPARE = {
  '<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b, '=': (a, b) => a === b,
};

/** "accuracy>0.9" as a test; null when it is none of a column that there is. */
function comparison(word, columns) {
  const [, name, operator, wanted] = COMPARISON.exec(word) ?? [];
  const column = name && (columns.find(({key}) => key === name) ?? columns.find(({key}) => key.endsWith(name)));
  if (!column) {
    return null;
  }
  const limit = Number(wanted);
  if (Number.isNaN(limit)) {
    return (row) => operator === '=' && String(column.of(row)) === wanted;
  }
  return (row) => column.of(row) !== null && COMPARE[operator](Number(column.of(row)), limit);
}

function contains(word, columns) {
  const wanted = word.toLocaleLowerCase();
  return (row) => columns.some((column) => {
    const value = column.of(row);
    return value !== null && String(value).toLocaleLowerCase().includes(wanted);
  });
}

/**
 * @param {string} text words that must all be there, and comparisons such as "learning_rate<0.1"
 * @param {import('./columns.js').Column[]} columns
 * @returns {function(Object): boolean}
 */
export function textFilter(text, columns) {
  const tests = text.split(/\s+/).filter(Boolean).map((word) => comparison(word, columns) ?? contains(word, columns));
  return (row) => tests.every((test) => test(row));
}

function isMissing(x) {
  return x === null || x === undefined || x === '' || Number.isNaN(x);
}

/** Numbers by size, all else as words; what is missing is last in either direction. */
function order(a, b, sign) {
  if (isMissing(a) || isMissing(b)) {
    return isMissing(a) - isMissing(b);
  }
  return typeof a === 'number' && typeof b === 'number' ? sign * (a - b) : sign * String(a).localeCompare(String(b), undefined, {numeric: true});
}

/**
 * @param {Object[]} rows
 * @param {?import('./columns.js').Column} column null: as they are
 * @param {boolean} descending
 * @returns {Object[]} sorted, equal ones in the order of the sweep
 */
export function sorted(rows, column, descending) {
  if (!column) {
    return rows;
  }
  const sign = descending ? -1 : 1;
  const keys = new Map(rows.map((row) => [row, column.of(row)]));
  return [...rows].sort((a, b) => order(keys.get(a), keys.get(b), sign) || a.index - b.index);
}
