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

/** One curve's row. It stays while its figures change, so that whoever is at its box is not thrown out. */
function rowOf(one, onToggle) {
  const box = h('input', {
    type: 'checkbox', 'aria-label': `Show ${one.label}`, 'data-test': 'legend-toggle', on: {change: () => onToggle(one.key, box.checked)},
  });
  const at = h('td', {class: 'numeric'});
  const best = h('td', {class: 'numeric'});
  const element = h('tr', {'data-test': 'legend-row', 'data-key': one.key}, h('td', {}, swatch(one.place)), nameCell(one, box), at, best);
  let {curve} = one;
  const show = (step) => {
    const point = pointAt(curve, step);
    replace(at, number(point && (Number.isFinite(point.value) ? point.value : String(point.value))));
  };
  const update = (next, isShown, side) => {
    ({curve} = next);
    box.checked = isShown;
    replace(best, number(extremes(curve)[side]));
  };
  return {element, show, update};
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
  let rows = new Map(); // by key and look
  let pointer = null;
  box.update = (series, {direction, hidden}) => {
    const [word, side] = BEST[direction] ?? BEST.lower;
    const before = rows;
    rows = new Map(series.map((one) => {
      const key = `${one.key} ${one.place}`;
      const row = before.get(key) ?? rowOf(one, onToggle);
      row.update(one, !hidden.has(one.key), side);
      return [key, row];
    }));
    replace(best, word);
    const wanted = [...rows.values()].map(({element}) => element);
    if (wanted.length !== body.childElementCount || wanted.some((element, i) => element !== body.children[i])) {
      replace(body, wanted);
    }
    box.at(pointer);
  };
  box.at = (step) => {
    pointer = step;
    replace(when, step === null ? 'last' : `step ${count(step)}`);
    rows.forEach(({show}) => show(step));
  };
  return box;
}
