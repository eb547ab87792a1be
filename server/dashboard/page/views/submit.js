import {h, replace} from '../dom.js';

/** A new job. */
export function view(_, {title}) {
  title('New job');
  const body = h('p', {'data-test': 'submit'});
  replace(body, 'Jobs are submitted with ', h('code', {}, 'assayd submit'), ' or POST /v1/jobs.');
  return h('section', {class: 'view'}, h('h1', {}, 'New job'), body);
}
