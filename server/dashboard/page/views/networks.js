import {get} from '../api.js';
import {h, replace, set} from '../dom.js';
import {count, nounOf} from '../format.js';
import {dataOfNetwork, sampleWord} from '../parts/data_kind.js';
import {failure} from '../parts/failure.js';
import {figure} from '../parts/figure.js';
import {arrange} from '../parts/keyed.js';
import {nextSort, sortSign, sorted} from '../parts/sort.js';
import {figuresOf} from './networks/figures.js';

const COLUMNS = [
  {key: 'name', label: 'Name', of: ({template}) => template.name},
  {key: 'takes', label: 'What it takes', of: ({template}) => template.takes},
  {key: 'learnables', label: 'Learnables', of: ({figures}) => figures?.learnables},
  {key: 'multiply_adds', label: 'Multiply-adds', of: ({figures}) => figures?.multiplyAdds},
];

function figuresView({learnables, multiplyAdds, sizes}, takes) {
  return [h('div', {class: 'figures'}, figure(nounOf(learnables, 'learnable'), count(learnables), 'card-learnables'),
    figure(`multiply-adds a ${takes === 'sequence' ? 'step' : 'sample'}`, count(multiplyAdds), 'card-multiply-adds')),
  h('p', {class: 'small muted'}, `for ${sizes}`)];
}

function card(template, figures) {
  const {name, title, text, parameters} = template;
  const names = parameters.map((parameter) => parameter.name.replaceAll('_', ' ')).join(', ');
  return h('a', {class: 'card network-card', href: `#/networks/${encodeURIComponent(name)}`, 'data-test': 'network-card'},
    h('div', {class: 'row between'}, h('h2', {}, title ?? name), h('span', {class: 'chip'}, `${sampleWord(dataOfNetwork(template))}s`)),
    h('code', {class: 'muted'}, name), h('p', {}, text), figures,
    names ? h('p', {class: 'small muted'}, `Parameters: ${names}`) : null);
}

/** A network in the list: its card stays the same one wherever it is sorted to. */
function rowOf(template, index) {
  const place = h('div', {class: 'stack'}, h('p', {class: 'small muted'}, 'counting …'));
  return {template, index, figures: null, place, element: card(template, place)};
}

async function fill(row, signal) {
  try {
    row.figures = await figuresOf(row.template, signal);
    replace(row.place, figuresView(row.figures, row.template.takes));
  } catch (error) {
    signal.aborted || replace(row.place, failure(error));
  }
}

/** Buttons that sort, as the headings of tables do. */
function sortBar(query, onSort) {
  const buttons = COLUMNS.map(({key}) => h('button', {type: 'button', class: 'small', 'data-test': `sort-${key}`, on: {click: () => onSort(nextSort(query, key))}}));
  const show = (column, descending) => COLUMNS.forEach(({key, label}, i) => {
    const isSorted = key === column?.key;
    replace(set(buttons[i], {'aria-pressed': String(isSorted)}), label, sortSign(isSorted, descending));
  });
  return {element: h('div', {class: 'row', role: 'group', 'aria-label': 'Sort by'}, h('span', {class: 'muted small'}, 'Sort by'), buttons), show};
}

/** The catalogue of networks. */
export function view(_, {signal, query, setQuery, title}) {
  title('Networks');
  const list = h('div', {class: 'grid', 'data-test': 'networks'});
  let rows = [];
  const show = () => {
    const column = COLUMNS.find(({key}) => key === query.get('sort')) ?? null;
    const descending = query.get('order') === 'descending';
    bar.show(column, descending);
    arrange(list, sorted(rows, column, descending).map(({element}) => element));
  };
  const bar = sortBar(query, (changes) => {
    setQuery(changes);
    show();
  });
  const read = async () => {
    const {items} = await get('/v1/networks', {signal});
    rows = items.map(rowOf);
    show();
    await Promise.all(rows.map((row) => fill(row, signal)));
    show();
  };
  read().catch((error) => signal.aborted || replace(list, failure(error)));
  return h('section', {class: 'view'},
    h('div', {class: 'row between'}, h('h1', {}, 'Networks'),
      h('a', {class: 'button', href: '#/networks/draft', 'data-test': 'network-own'}, 'Write your own')),
    h('p', {class: 'muted'}, 'Look at one, change it, and see what it costs before it is trained.'), bar.element, list);
}
