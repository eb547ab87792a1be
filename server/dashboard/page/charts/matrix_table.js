import {h} from '../dom.js';
import {capital, count, percent} from '../format.js';
import {cellText, cellWords} from './matrix.js';
import {matrixLegend} from './matrix_legend.js';
import {cellStrength, precision, recall} from './matrix_model.js';

const STEPS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

function cell(model, {shown, chosen, onPick}, t, p) {
  const strength = cellStrength(model, shown, t, p);
  const isChosen = chosen?.[0] === t && chosen?.[1] === p;
  return h('td', {role: 'gridcell'}, h('button', {
    class: `cell ${t === p ? 'right' : 'wrong'}`,
    style: {'--strength': strength.toFixed(2)},
    tabindex: -1, title: cellWords(model, t, p), 'aria-label': cellWords(model, t, p),
    'aria-pressed': String(isChosen), 'data-test': 'cell', 'data-true': t, 'data-predicted': p,
    on: {click: () => onPick(t, p)},
  }, cellText(model, shown, t, p)));
}

function heading(model, k, attributes) {
  return h('th', {title: model.classes[k], ...attributes}, h('span', {class: 'class-name', dir: 'auto'}, model.classes[k]));
}

/** Columns are narrow: a share without decimals. */
function whole(share) {
  return share === null ? '–' : `${Math.round(share * 100)} %`;
}

function row(model, options, t) {
  return h('tr', {}, heading(model, t, {scope: 'row', class: 'row-name'}),
    options.places.map((p) => cell(model, options, t, p)),
    h('td', {class: 'sum', 'data-test': 'row-sum'}, count(model.rows[t])),
    h('td', {class: 'sum', 'data-test': 'row-recall'}, percent(recall(model, t))));
}

function sums(model, places, name, test, text) {
  return h('tr', {class: 'sums'}, h('th', {scope: 'row', class: 'row-name'}, name),
    places.map((p) => h('td', {class: 'sum', 'data-test': test}, text(p))));
}

/** Arrows go from cell to cell; Tab goes on behind the table. */
function byArrows(table, columns) {
  const cells = [...table.querySelectorAll('button.cell')];
  const first = cells.find((one) => one.getAttribute('aria-pressed') === 'true') ?? cells[0];
  first.tabIndex = 0;
  table.addEventListener('focusin', ({target}) => {
    if (target.classList.contains('cell')) {
      cells.forEach((one) => { one.tabIndex = one === target ? 0 : -1; });
    }
  });
  table.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    const at = cells.indexOf(event.target);
    if (!step || at < 0) {
      return;
    }
    event.preventDefault();
    const column = (at % columns) + step[1];
    const next = column >= 0 && column < columns ? cells[at + step[0] * columns + step[1]] : null;
    next?.focus();
  });
}

/** As matrix.css colours a cell. */
function colourOf(series, strength) {
  return `color-mix(in srgb, ${series} calc(${strength} * var(--fill)), var(--sunken))`;
}

/** A matrix as a table of buttons, with sums, recall and precision at its edges. */
export function matrixTable(model, options) {
  const {places} = options;
  const table = h('table', {class: 'matrix', role: 'grid', 'data-test': 'matrix', 'aria-label': 'Confusion matrix: rows are true classes, columns predicted ones'},
    h('thead', {}, h('tr', {},
      h('th', {class: 'corner'}, h('span', {}, 'predicted →'), h('span', {}, 'true ↓')),
      places.map((p) => heading(model, p, {scope: 'col', class: 'column-name'})),
      h('th', {scope: 'col', class: 'sum-name'}, capital(`${options.word}s`)), h('th', {scope: 'col', class: 'sum-name'}, 'Recall'))),
    h('tbody', {}, places.map((t) => row(model, options, t))),
    h('tfoot', {},
      sums(model, places, 'Predicted', 'column-sum', (p) => count(model.columns[p])),
      sums(model, places, 'Precision', 'column-precision', (p) => whole(precision(model, p)))));
  byArrows(table, places.length);
  return h('div', {class: 'stack'}, matrixLegend(model, options.shown, colourOf), h('div', {class: 'matrix-box'}, table));
}
