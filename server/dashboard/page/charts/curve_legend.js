/** The legend of a chart of curves: which line is which, what it is at the pointer, what it was at best. */

import {h, replace} from '../dom.js';
import {count, number} from '../format.js';
import {extremes, pointAt} from './curve_data.js';
import {swatch} from './curves.js';

const BEST = {lower: ['lowest', 'low'], higher: ['highest', 'high']};

function nameCell({label, detail, href}, box) {
  const name = href ? h('a', {href}, label) : label;
  return h('th', {scope: 'row'}, h('label', {class: 'plain'}, box, h('span', {class: 'break'}, name)),
    detail ? h('div', {class: 'muted small break'}, detail) : null);
}

/** One curve's row: its cells are written anew, the row stays, so that the pointer's way costs little. */
function rowOf(one, n, direction, hidden, onToggle) {
  const box = h('input', {
    type: 'checkbox', checked: !hidden.has(one.key), 'aria-label': `Show ${one.label}`, 'data-test': 'legend-toggle',
    on: {change: () => onToggle(one.key, box.checked)},
  });
  const at = h('td', {class: 'numeric'});
  const best = h('td', {class: 'numeric'}, number(extremes(one.curve)[BEST[direction]?.[1] ?? 'low']));
  const row = h('tr', {'data-test': 'legend-row', 'data-key': one.key}, h('td', {}, swatch(n)), nameCell(one, box), at, best);
  const show = (step) => {
    const point = pointAt(one.curve, step);
    replace(at, point ? number(Number.isFinite(point.value) ? point.value : String(point.value)) : '–');
  };
  show(null);
  return {row, show};
}

/**
 * @param {function(string, boolean)} onToggle a curve is to be shown, or hidden
 * @returns {HTMLElement} with update(series, {direction, hidden}) and at(step), null: the last one
 */
export function curveLegend(onToggle) {
  const when = h('th', {scope: 'col', class: 'numeric'}, 'last');
  const best = h('th', {scope: 'col', class: 'numeric'});
  const body = h('tbody', {});
  const box = h('div', {class: 'curve-legend'}, h('table', {'data-test': 'legend'},
    h('thead', {}, h('tr', {}, h('td', {}), h('th', {scope: 'col'}, 'curve'), when, best)), body));
  let rows = [];
  box.update = (series, {direction, hidden}) => {
    rows = series.map((one, n) => rowOf(one, n, direction, hidden, onToggle));
    replace(best, BEST[direction]?.[0] ?? 'lowest');
    replace(body, rows.map(({row}) => row));
  };
  box.at = (step) => {
    replace(when, step === null ? 'last' : `step ${count(step)}`);
    rows.forEach(({show}) => show(step));
  };
  return box;
}
