import {h, replace} from '../dom.js';

/** Trials side by side: those that the address names. */
export function view(_, {query, title}) {
  title('Compare');
  const list = h('ul', {'data-test': 'compare-list'});
  replace(list, (query.get('trials') ?? '').split(',').filter(Boolean).map((id) => h('li', {}, h('a', {href: `#/trials/${id}`}, id))));
  return h('section', {class: 'view'}, h('h1', {}, 'Compare'), list);
}
