import {h, replace} from '../dom.js';
import {poll} from '../api.js';
import {failure} from '../parts/failure.js';

/** Networks: what there is. */
export function view(_, {signal, title}) {
  title('Networks');
  const list = h('ul', {'data-test': 'networks-list'});
  const show = ({items}) => replace(list, items.map((row) => h('li', {}, h('a', {href: `#/networks/${encodeURIComponent(row.name)}`}, row.name))));
  poll('/v1/networks', show, {signal, onError: (error) => replace(list, failure(error))});
  return h('section', {class: 'view'}, h('h1', {}, 'Networks'), list);
}
