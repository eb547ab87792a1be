/** Sequences with their errors, the worst first; more on request. */

import {get} from '../api.js';
import {h} from '../dom.js';
import {count, number} from '../format.js';

function row(item, onChoose) {
  return h('tr', {'data-sample': item.sample, 'data-test': 'sequence-row', on: {click: () => onChoose(item.sample)}},
    h('td', {class: 'break'}, h('button', {type: 'button', class: 'link'}, item.name)),
    h('td', {class: 'numeric'}, count(item.length)), h('td', {class: 'numeric'}, number(item.rmse)),
    h('td', {class: 'numeric'}, number(item.worst.error)), h('td', {class: 'numeric'}, count(item.worst.step)));
}

const HEADINGS = [['Sequence', ''], ['Steps', 'numeric'], ['RMSE', 'numeric'], ['Worst error', 'numeric'], ['at step', 'numeric']];

/**
 * @param {string} path a list of predictions of sequences
 * @param {function(number)} onChoose gets the sample of a sequence
 * @param {AbortSignal} signal
 * @returns {HTMLElement} with `mark(sample)` and `first`, a promise of the first row
 */
export function sequenceTable(path, onChoose, signal) {
  const body = h('tbody', {});
  const more = h('button', {type: 'button', hidden: true, 'data-test': 'sequences-more'}, 'More');
  let chosen = null;
  const mark = (sample) => {
    chosen = String(sample);
    body.querySelectorAll('tr').forEach((one) => one.classList.toggle('is-chosen', one.dataset.sample === chosen));
  };
  const load = async (cursor) => {
    const page = await get(cursor ? `${path}&cursor=${encodeURIComponent(cursor)}` : path, {signal});
    body.append(...page.items.map((item) => row(item, onChoose)));
    more.hidden = !page.next_cursor;
    more.onclick = () => load(page.next_cursor);
    mark(chosen);
    return page.items[0];
  };
  const table = h('table', {'data-test': 'sequences'}, h('caption', {class: 'only-readers'}, 'Sequences, the largest error first'),
    h('thead', {}, h('tr', {}, HEADINGS.map(([text, kind]) => h('th', {scope: 'col', class: kind}, text)))), body);
  const element = h('div', {class: 'card'}, h('h2', {}, 'Sequences, the worst first'),
    h('div', {class: 'table-box sequences', tabindex: '0', role: 'region', 'aria-label': 'Sequences'}, table), more);
  return Object.assign(element, {mark, first: load(null)});
}
