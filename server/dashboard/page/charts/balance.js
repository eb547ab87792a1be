/** How many samples of each class each part has: a bar a class, in pieces by part. */

import {h, replace} from '../dom.js';
import {count} from '../format.js';

const PARTS = ['train', 'validation', 'test'];
const SHOWN = 60;

function total(row) {
  return PARTS.reduce((sum, part) => sum + row[part], 0);
}

function bar(row, most) {
  const words = PARTS.filter((part) => row[part] > 0).map((part) => `${part} ${count(row[part])}`).join(', ') || 'nothing';
  const pieces = PARTS.map((part, i) => h('span', {class: `piece series-${i + 1}`, style: {width: `${100 * row[part] / most}%`}}));
  return h('tr', {'data-test': 'class-bar', title: `${row.name}: ${words}`},
    h('th', {scope: 'row', class: 'break'}, row.name),
    PARTS.map((part) => h('td', {class: 'only-readers'}, count(row[part]))),
    h('td', {class: 'bar', 'aria-hidden': 'true'}, pieces), h('td', {class: 'numeric'}, count(total(row))));
}

function legend(rows) {
  const sums = PARTS.map((part) => rows.reduce((sum, row) => sum + row[part], 0));
  return h('div', {class: 'row legend'}, PARTS.map((part, i) => sums[i] > 0
    && h('span', {class: `key series-${i + 1}`}, `${part} ${count(sums[i])}`)));
}

/**
 * @param {{name: string, train: number, validation: number, test: number}[]} classes in the order of their labels
 * @returns {HTMLElement}
 */
export function balance(classes) {
  const most = Math.max(1, ...classes.map(total));
  const body = h('tbody', {});
  let isSorted = false;
  let isWhole = classes.length <= SHOWN;
  const draw = () => {
    const rows = isSorted ? [...classes].sort((a, b) => total(b) - total(a)) : classes;
    replace(body, rows.slice(0, isWhole ? rows.length : SHOWN).map((row) => bar(row, most)));
    all.hidden = isWhole;
    sort.setAttribute('aria-pressed', String(isSorted));
  };
  const sort = h('button', {type: 'button', class: 'small', 'data-test': 'balance-sort', on: {click: () => { isSorted = !isSorted; draw(); }}}, 'Largest first');
  const all = h('button', {type: 'button', class: 'small', on: {click: () => { isWhole = true; draw(); }}}, `All ${count(classes.length)} classes`);
  draw();
  const head = h('tr', {class: 'only-readers'}, ['Class', ...PARTS, 'Bar', 'In all'].map((text) => h('th', {scope: 'col'}, text)));
  return h('div', {class: 'stack'}, h('div', {class: 'row between'}, legend(classes), sort),
    h('table', {class: 'balance', 'data-test': 'balance'}, h('thead', {}, head), body), all);
}
