/** Pretrained weights: what there is, one of them in detail, and new ones. */

import {poll} from '../api.js';
import {h, replace} from '../dom.js';
import {bytes, count} from '../format.js';
import {badge} from '../parts/badge.js';
import {failure} from '../parts/failure.js';
import {keyed} from '../parts/keyed.js';
import {when} from '../parts/when.js';
import {link} from '../router.js';
import {weightsDetail} from './weights/detail.js';
import {weightsForm} from './weights/form.js';

const HEADS = [['Name', null], ['State', null], ['Origin', null], ['Licence', null], ['Numbers', 'numeric'], ['Size', 'numeric'], ['Made', null]];
const LIST = '/v1/weights?limit=200';

function row(one) {
  return h('tr', {'data-test': 'weights-row', 'data-id': one.id},
    h('td', {class: 'break'}, h('a', {class: 'strong', href: link('/weights', {id: one.id}), 'data-test': 'weights-link'}, one.name)),
    h('td', {}, badge(one.state)),
    h('td', {class: 'break'}, one.error ? h('span', {class: 'bad'}, one.error) : one.origin || h('span', {class: 'muted'}, 'not said')),
    h('td', {class: 'break'}, one.licence || h('span', {class: 'muted'}, 'not said')),
    h('td', {class: 'numeric'}, count(one.element_count)), h('td', {class: 'numeric'}, bytes(one.bytes)),
    h('td', {class: 'muted'}, when(one.created_at)));
}

function table() {
  const body = h('tbody', {});
  const box = h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Weights', hidden: true},
    h('table', {'data-test': 'weights-list'}, h('thead', {}, h('tr', {}, HEADS.map(([text, kind]) => h('th', {scope: 'col', class: kind}, text)))), body));
  box.show = keyed(body, ({id}) => id, row);
  return box;
}

/** A button that shows and hides the form, which is made when it is first wanted. */
function opener(place, signal) {
  const button = h('button', {class: 'primary', type: 'button', 'aria-expanded': 'false', 'data-test': 'weights-new'}, 'New weights');
  button.addEventListener('click', () => {
    const isOpen = place.firstChild !== null;
    replace(place, isOpen ? null : weightsForm(signal));
    button.setAttribute('aria-expanded', String(!isOpen));
  });
  return button;
}

/**
 * @param {string[]} _
 * @param {Object} scope `query.id` names the weights that are shown in detail
 * @returns {HTMLElement}
 */
export function view(_, {signal, query, title}) {
  title('Weights');
  const list = table();
  const said = h('div', {});
  const form = h('div', {});
  const close = () => { location.hash = link('/weights'); };
  const detail = query.get('id') ? weightsDetail(query.get('id'), close, signal) : null;
  poll(LIST, ({items}) => {
    list.hidden = items.length === 0;
    list.show(items);
    replace(said, items.length ? null : h('p', {class: 'card empty', 'data-test': 'no-weights'},
      'No weights yet. Networks trained on large collections of pictures make good beginnings for small ones: upload a file, then submit a job of kind transfer learning.'));
  }, {signal, onError: (error) => replace(said, failure(error))});
  return h('section', {class: 'view'}, h('div', {class: 'row between'}, h('h1', {}, 'Weights'), opener(form, signal)), form, detail, said, list);
}
