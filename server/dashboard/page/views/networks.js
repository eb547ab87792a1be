import {get} from '../api.js';
import {h, replace} from '../dom.js';
import {dataOfNetwork, sampleWord} from '../parts/data_kind.js';
import {failure} from '../parts/failure.js';

function card(template) {
  const {name, title, text, parameters} = template;
  const names = parameters.map((parameter) => parameter.name.replaceAll('_', ' ')).join(', ');
  return h('a', {class: 'card network-card', href: `#/networks/${encodeURIComponent(name)}`, 'data-test': 'network-card'},
    h('div', {class: 'row between'}, h('h2', {}, title ?? name), h('span', {class: 'chip'}, `${sampleWord(dataOfNetwork(template))}s`)),
    h('code', {class: 'muted'}, name), h('p', {}, text),
    names ? h('p', {class: 'small muted'}, `Parameters: ${names}`) : null);
}

/** The catalogue of networks. */
export function view(_, {signal, title}) {
  title('Networks');
  const list = h('div', {class: 'grid', 'data-test': 'networks'});
  get('/v1/networks', {signal}).then(({items}) => replace(list, items.map(card)))
    .catch((error) => signal.aborted || replace(list, failure(error)));
  return h('section', {class: 'view'},
    h('div', {class: 'row between'}, h('h1', {}, 'Networks'),
      h('a', {class: 'button', href: '#/networks/draft', 'data-test': 'network-own'}, 'Write your own')),
    h('p', {class: 'muted'}, 'Look at one, change it, and see what it costs before it is trained.'), list);
}
