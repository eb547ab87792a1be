import {h, replace} from '../dom.js';
import {poll} from '../api.js';
import {failure} from '../parts/failure.js';

/** Weights: what there is. */
export function view(_, {signal, title}) {
  title('Weights');
  const list = h('ul', {'data-test': 'weights-list'});
  const show = ({items}) => replace(list, items.map((row) => h('li', {}, h('a', {href: '#/weights'}, row.name))));
  poll('/v1/weights?limit=50', show, {signal, onError: (error) => replace(list, failure(error))});
  return h('section', {class: 'view'}, h('h1', {}, 'Weights'), list);
}
