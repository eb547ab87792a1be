import {h, replace} from '../dom.js';
import {poll} from '../api.js';
import {failure} from '../parts/failure.js';

/** Data sets: what there is. */
export function view(_, {signal, title}) {
  title('Data sets');
  const list = h('ul', {'data-test': 'datasets-list'});
  const show = ({items}) => replace(list, items.map((row) => h('li', {}, h('a', {href: `#/datasets/${encodeURIComponent(row.id)}`}, row.name))));
  poll('/v1/datasets?limit=50', show, {signal, onError: (error) => replace(list, failure(error))});
  return h('section', {class: 'view'}, h('h1', {}, 'Data sets'), list);
}
