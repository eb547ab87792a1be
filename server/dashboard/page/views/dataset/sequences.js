import {h} from '../../dom.js';
import {count, number} from '../../format.js';

const PARTS = ['train', 'validation', 'test'];

function table(label, headings, rows, test) {
  return h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': label}, h('table', {'data-test': test},
    h('thead', {}, h('tr', {}, headings.map((text, i) => h('th', {scope: 'col', class: i ? 'numeric' : null}, text)))), h('tbody', {}, rows)));
}

function partRow(part, {sequences, steps, length}) {
  return h('tr', {}, h('td', {}, part), [count(sequences), count(steps), number(length.min), number(length.mean), number(length.max)]
    .map((text) => h('td', {class: 'numeric'}, text)));
}

function columnRow(column, constant, role) {
  return h('tr', {}, h('td', {class: 'break'}, column.name, ' ', role ? h('span', {class: 'chip'}, role) : null,
    constant.has(column.name) ? h('span', {class: 'chip'}, 'one value: left out') : null),
  [number(column.min), number(column.max), number(column.mean), number(column.std), count(column.filled)]
    .map((text) => h('td', {class: 'numeric'}, text)));
}

/**
 * Statistics of the columns of a set of sequences.
 * @param {Object} report
 * @returns {HTMLElement}
 */
export function columns({parts = {}, inputs = [], targets = [], constant_inputs: constants = []}) {
  const constant = new Set(constants);
  return h('div', {class: 'card'}, h('h2', {}, 'Parts and columns'),
    table('Parts', ['Part', 'Sequences', 'Steps', 'Shortest', 'Mean length', 'Longest'],
      PARTS.filter((part) => parts[part]).map((part) => partRow(part, parts[part])), 'sequence-parts'),
    table('Columns', ['Column', 'Least', 'Greatest', 'Mean', 'Deviation', 'Filled'],
      [...targets.map((column) => columnRow(column, constant, 'target')), ...inputs.map((column) => columnRow(column, constant))], 'columns'),
    h('p', {class: 'muted small'}, 'Of the train part.'));
}
