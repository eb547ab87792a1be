/** Rows in the order that a person chose: what a click on a heading asks for, and what comes of it. */

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
 * @param {Object[]} rows each with its place among all as `index`
 * @param {?{of: function(Object): *}} column null: as they are
 * @param {boolean} descending
 * @returns {Object[]} sorted, equal ones by their places
 */
export function sorted(rows, column, descending) {
  if (!column) {
    return rows;
  }
  const sign = descending ? -1 : 1;
  const keys = new Map(rows.map((row) => [row, column.of(row)]));
  return [...rows].sort((a, b) => order(keys.get(a), keys.get(b), sign) || a.index - b.index);
}

/** @returns {{sort: string, order: string}} of the address after a choice of key: ascending, descending, as they are */
export function nextSort(query, key) {
  const descending = query.get('order') === 'descending';
  return query.get('sort') !== key ? {sort: key, order: ''} : descending ? {sort: '', order: ''} : {sort: key, order: 'descending'};
}

/** @returns {string} the sign behind the heading of what is sorted by */
export function sortSign(isSorted, descending) {
  return isSorted ? (descending ? ' ↓' : ' ↑') : '';
}
