import {get} from '../../api.js';
import {h, replace} from '../../dom.js';
import {capital, count} from '../../format.js';
import {sampleWord} from '../../parts/data_kind.js';
import {failure} from '../../parts/failure.js';
import {choice} from '../../parts/field.js';
import {later} from '../../parts/later.js';
import {picture} from '../../parts/picture.js';

const PAGE = 48;
const PARTS = ['train', 'validation', 'test'];

function tile(item, signal) {
  return h('figure', {class: 'sample-tile', 'data-test': 'sample'},
    h('span', {class: 'pane', title: item.name}, picture(item.image, {alt: `${item.name}, ${item.class}`, signal})),
    h('figcaption', {class: 'small'}, h('b', {class: 'clip'}, item.class ?? '–'), h('span', {class: 'muted clip'}, `${item.part}: ${item.name}`)));
}

function line(item) {
  return h('tr', {'data-test': 'sample'}, h('td', {class: 'break'}, item.name), h('td', {}, item.part), item.class && h('td', {}, item.class),
    h('td', {class: 'numeric'}, count(item.steps)));
}

function tableOf(body, hasClasses) {
  return h('div', {class: 'table-box sequences', tabindex: '0', role: 'region', 'aria-label': 'Sequences'}, h('table', {},
    h('thead', {}, h('tr', {}, ['Sequence', 'Part', ...(hasClasses ? ['Class'] : []), 'Steps'].map((text) => h('th', {scope: 'col', class: text === 'Steps' ? 'numeric' : null}, text)))),
    body));
}

function filters(row, onChange) {
  const part = choice([['', 'all parts'], ...PARTS.filter((one) => row.counts?.[one] > 0)], {'aria-label': 'Part', 'data-test': 'samples-part', on: {change: onChange}});
  const names = (row.classes ?? []).map(({name}) => name);
  const kind = choice([['', 'all classes'], ...names], {'aria-label': 'Class', 'data-test': 'samples-class', hidden: names.length === 0, on: {change: onChange}});
  const query = () => {
    const given = new URLSearchParams({limit: PAGE});
    part.value && given.set('part', part.value);
    kind.value && given.set('class', kind.value);
    return given;
  };
  return {element: h('div', {class: 'row'}, part, kind), query};
}

/**
 * Pictures, windows or sequences of a set, page by page.
 * @param {Object} row a data set that is ready
 * @param {{signal: AbortSignal}} scope
 * @returns {HTMLElement}
 */
export function samples(row, {signal}) {
  const isImages = Boolean(row.image ?? row.signal); // a window is shown as a plot
  const words = capital(`${sampleWord(row.kind)}s`);
  const body = h(isImages ? 'div' : 'tbody', {class: isImages ? 'sample-tiles' : null});
  const wrong = h('div', {});
  const more = h('button', {type: 'button', hidden: true, 'data-test': 'samples-more'}, 'More');
  const load = async (cursor, own) => {
    const query = chosen.query();
    cursor && query.set('cursor', cursor);
    try {
      const page = await get(`/v1/datasets/${row.id}/items?${query}`, {signal: own});
      const found = page.items.map((item) => (isImages ? tile(item, own) : line(item)));
      cursor ? body.append(...found) : replace(body, found);
      more.hidden = !page.next_cursor;
      more.onclick = () => load(page.next_cursor, own);
      replace(wrong, cursor || found.length ? null : h('p', {class: 'empty'}, 'Nothing of this kind.'));
    } catch (error) {
      own.aborted || replace(wrong, failure(error));
    }
  };
  const restart = later((own) => load(null, own), 0, signal);
  const chosen = filters(row, () => restart());
  restart();
  return h('div', {class: 'card', 'data-test': 'samples'},
    h('div', {class: 'row between'}, h('h2', {}, isImages ? `${words} as training sees them` : words), chosen.element),
    isImages ? body : tableOf(body, row.classes?.length > 0), wrong, h('div', {class: 'row'}, more));
}
