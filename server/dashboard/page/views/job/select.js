/** Which rows are shown. */

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
