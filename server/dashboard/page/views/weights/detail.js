/** One file of weights: its card, its tensors, whether it fits a network. */

import {get, poll, send} from '../../api.js';
import {h, replace} from '../../dom.js';
import {bytes, count, percent, time} from '../../format.js';
import {ask} from '../../parts/ask.js';
import {badge} from '../../parts/badge.js';
import {download} from '../../parts/download.js';
import {editable} from '../../parts/edit.js';
import {failure} from '../../parts/failure.js';
import {act} from '../../parts/message.js';
import {match} from './match.js';

const LISTED = 500;

function preprocessingText({scale, mean, std}) {
  return `(pixel / ${scale} − [${mean.join(', ')}]) / [${std.join(', ')}]`;
}

/** The card: what is known of where they come from. */
function facts(row) {
  const rows = [
    ['State', [badge(row.state), row.state === 'checking' ? ` ${percent(row.progress)}` : null]],
    ['Refused', row.error && h('span', {class: 'bad'}, row.error)],
    ['Origin', row.origin || 'not said'], ['Licence', row.licence || 'not said'],
    ['Address', row.url && h('a', {href: row.url, rel: 'noreferrer noopener'}, row.url)],
    ['Format', row.format], ['Tensors', row.tensor_count && `${count(row.tensor_count)}, ${count(row.element_count)} numbers, ${bytes(row.bytes)}`],
    ['Pictures', row.preprocessing && h('code', {}, preprocessingText(row.preprocessing))],
    ['SHA-256', row.digest && h('code', {class: 'break'}, row.digest)],
    ['Not finite', row.report?.not_finite.length ? h('span', {class: 'bad break'}, row.report.not_finite.join(', ')) : null],
    ['Made', `${time(row.created_at)} by ${row.created_by}`],
  ];
  return rows.filter(([, value]) => value).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]);
}

function tensors(id, signal) {
  const place = h('div', {});
  const details = h('details', {'data-test': 'tensors'}, h('summary', {}, 'Tensors'), place);
  details.addEventListener('toggle', async () => {
    if (!details.open || place.firstChild) {
      return;
    }
    try {
      const {items, next_cursor: more} = await get(`/v1/weights/${id}/tensors?limit=${LISTED}`, {signal});
      replace(place, h('ul', {class: 'mono listing', tabindex: '0'}, items.map(({name, dtype, shape}) => h('li', {class: 'break'}, `${name} ${dtype} [${shape.join(', ')}]`))),
        more ? h('p', {class: 'muted'}, 'There are more; the API gives all.') : null);
    } catch (error) {
      replace(place, failure(error));
    }
  });
  return details;
}

function buttons(row, close, signal) {
  const save = h('button', {type: 'button', 'data-test': 'weights-download'}, 'Download');
  save.addEventListener('click', () => act(save, () => download(`/v1/weights/${row.id}/content`, `${row.name}.safetensors`, {signal})));
  const remove = h('button', {type: 'button', class: 'danger', 'data-test': 'weights-delete'}, 'Delete');
  remove.addEventListener('click', async () => {
    if (await ask({title: 'Delete these weights?', text: `"${row.name}" is deleted for good. Jobs that use it keep it from being deleted.`, verb: 'Delete', danger: true})) {
      await act(remove, async () => {
        await send('DELETE', `/v1/weights/${row.id}`, undefined, {signal});
        close();
        return 'Deleted.';
      });
    }
  });
  return h('div', {class: 'row'}, row.state === 'ready' ? save : null, remove, h('button', {type: 'button', on: {click: close}, 'data-test': 'weights-close'}, 'Close'));
}

/**
 * @param {string} id
 * @param {function()} close
 * @param {AbortSignal} signal
 */
export function weightsDetail(id, close, signal) {
  const list = h('dl', {class: 'facts'});
  const below = h('div', {class: 'stack'});
  const top = h('div', {class: 'row between'});
  const element = h('section', {class: 'card', 'data-test': 'weights-detail'}, top, list, below);
  const patch = (changes) => send('PATCH', `/v1/weights/${id}`, changes, {signal});
  let state = null;
  poll(`/v1/weights/${id}`, (row) => {
    replace(list, facts(row));
    if (row.state === state) {
      return;
    }
    state = row.state;
    replace(top, h('h2', {}, editable(row.name, (name) => patch({name}), {label: 'Rename the weights', name: 'weights-name'})), buttons(row, close, signal));
    replace(below, editable(row.notes, (notes) => patch({notes}), {label: 'Edit the notes', empty: 'No notes', lines: true, name: 'weights-notes'}),
      state === 'ready' ? [match(id, signal), tensors(id, signal)] : null);
  }, {signal, onError: (error) => replace(below, failure(error))});
  return element;
}
