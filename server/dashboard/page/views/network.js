import {h, replace} from '../dom.js';
import {poll} from '../api.js';
import {failure} from '../parts/failure.js';

/** Network: what the service says of it. */
export function view([id], {signal, title}) {
  const name = h('h1', {}, 'Network');
  const body = h('dl', {class: 'facts', 'data-test': 'network'});
  const show = (row) => {
    title(row.name);
    replace(name, row.name);
    replace(body, ['state', 'kind', 'created_at', 'notes'].filter((key) => row[key])
      .map((key) => [h('dt', {}, key), h('dd', {}, row[key])]));
  };
  poll(`/v1/networks/${encodeURIComponent(id)}`, show, {signal, onError: (error) => replace(body, failure(error))});
  return h('section', {class: 'view'}, name, body);
}
