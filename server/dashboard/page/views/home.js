import {h, replace} from '../dom.js';
import {poll} from '../api.js';
import {failure} from '../parts/failure.js';

/** Experiments: what there is. */
export function view(_, {signal, title}) {
  title('Experiments');
  const list = h('ul', {'data-test': 'home-list'});
  const show = ({items}) => replace(list, items.map((row) => h('li', {}, h('a', {href: `#/jobs/${encodeURIComponent(row.id)}`}, row.name))));
  poll('/v1/jobs?limit=50', show, {signal, onError: (error) => replace(list, failure(error))});
  return h('section', {class: 'view'}, h('h1', {}, 'Experiments'), list);
}
