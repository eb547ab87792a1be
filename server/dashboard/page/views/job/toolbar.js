/** What stands above the table of trials: filters, columns, export; and what is done with chosen ones. */

import {curlButton} from '../../curl.js';
import {h, replace, set} from '../../dom.js';
import {count} from '../../format.js';
import {download} from '../../parts/download.js';
import {act} from '../../parts/message.js';
import {link} from '../../router.js';
import {trialVerbs} from './verbs.js';

const STATES = ['queued', 'running', 'paused', 'completed', 'stopped', 'cancelled', 'failed'];
const COMPARED = 12; // more side by side nobody can read

function stateChoice(query, change) {
  const select = h('select', {'aria-label': 'State', 'data-test': 'trials-state'},
    [['', 'Any state'], ...STATES.map((state) => [state, state])].map(([value, text]) =>
      h('option', {value, selected: (query.get('state') ?? '') === value}, text)));
  select.addEventListener('change', () => change({state: select.value}));
  return select;
}

function search(query, change) {
  const field = h('input', {
    type: 'search', placeholder: 'Filter: adam, learning_rate<0.1, notes …', 'aria-label': 'Filter trials', 'data-test': 'trials-filter',
    title: 'Words that must occur, and comparisons such as validation_accuracy>=0.9',
  });
  field.value = query.get('filter') ?? '';
  field.addEventListener('input', () => change({filter: field.value}));
  return field;
}

function menu(label, name, children) {
  const details = h('details', {class: 'menu', 'data-test': name}, h('summary', {class: 'button'}, label), h('div', {class: 'sheet'}, children));
  details.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      details.open = false;
      details.firstChild.focus();
    }
  });
  details.addEventListener('focusout', ({relatedTarget}) => {
    if (relatedTarget && !details.contains(relatedTarget)) {
      details.open = false;
    }
  });
  return details;
}

function columnChoice(columns, isHidden, toggle) {
  return columns.map((column) => {
    const box = h('input', {type: 'checkbox', checked: !isHidden(column), 'data-test': `column-${column.key}`});
    box.addEventListener('change', () => toggle(column, !box.checked));
    return h('label', {class: 'plain'}, box, column.title ?? column.label);
  });
}

function exports(job, signal) {
  const base = `/v1/jobs/${job.id}/results`;
  const name = `job-${job.number}`;
  const button = (label, path, file) => {
    const made = h('button', {class: 'quiet', type: 'button', 'data-test': `export-${file.replace(/^.*?-\d+-?/, '')}`}, label);
    made.addEventListener('click', () => act(made, () => download(path, file, {signal, accept: path.includes('.csv') ? 'text/csv' : 'application/json'})));
    return made;
  };
  return menu('Export', 'export', [
    button('Trials as CSV', `${base}.csv?discarded=any`, `${name}-trials.csv`),
    button('Means over seeds as CSV', `${base}.csv?over=seeds`, `${name}-means.csv`),
    button('All as JSON', `${base}?discarded=any`, `${name}-results.json`),
    curlButton(() => ({method: 'GET', path: base})),
  ]);
}

/**
 * @param {Object} job
 * @param {Object} choice {query, change, columns(), isHidden(column), toggle(column, hidden), signal}
 */
export function toolbar(job, {query, change, columns, isHidden, toggle, signal}) {
  const chooser = menu('Columns', 'columns', []);
  chooser.addEventListener('toggle', () => chooser.open && replace(chooser.lastChild, columnChoice(columns(), isHidden, toggle)));
  const discarded = h('input', {type: 'checkbox', checked: query.get('discarded') === 'true', 'data-test': 'show-discarded'});
  discarded.addEventListener('change', () => change({discarded: discarded.checked ? 'true' : ''}));
  return h('div', {class: 'row toolbar'}, search(query, change), stateChoice(query, change),
    h('label', {class: 'plain'}, discarded, 'Discarded'), chooser, exports(job, signal));
}

/**
 * The bar about chosen trials; hidden while there are none.
 * @param {import('./selection.js').Selection} selection
 * @param {function()} after called when something was done
 */
export function selectionBar(selection, after) {
  const words = h('span', {role: 'status', 'data-test': 'selected'});
  const compare = h('a', {class: 'button small primary', 'data-test': 'compare'}, 'Compare');
  const clear = h('button', {class: 'small quiet', type: 'button', on: {click: () => selection.clear()}}, 'Clear');
  const bar = h('div', {class: 'row selection', hidden: true, 'data-test': 'selection'}, words, compare, trialVerbs(selection, after), clear);
  selection.addEventListener('change', () => {
    const {ids} = selection;
    set(bar, {hidden: ids.length === 0});
    replace(words, `${count(ids.length)} chosen`);
    set(compare, {hidden: ids.length < 2 || ids.length > COMPARED, href: link('/compare', {trials: ids.join(',')})});
  });
  return bar;
}
