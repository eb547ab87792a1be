import {poll, send} from '../api.js';
import {balance} from '../charts/balance.js';
import {h, replace} from '../dom.js';
import {bytes, count, percent, plural, time} from '../format.js';
import {ask} from '../parts/ask.js';
import {badge} from '../parts/badge.js';
import {sampleWord} from '../parts/data_kind.js';
import {failure} from '../parts/failure.js';
import {editable} from './dataset/edit.js';
import {findings} from './dataset/findings.js';
import {jobsOf} from './dataset/jobs.js';
import {resume} from './dataset/resume.js';
import {samples} from './dataset/samples.js';
import {columns} from './dataset/sequences.js';

function facts(row) {
  const {image, sequence, signal, counts} = row;
  const rows = [
    ['Kind', row.kind.replaceAll('_', ' ')], ['Files', row.files.map(({name, size}) => `${name} (${bytes(size)})`).join(', ')],
    ['Pictures', image && `${image.height} × ${image.width} × ${image.channels}`],
    ['Windows', signal && `${plural(signal.window, 'sample')}, ${plural(signal.channels, 'channel')}`],
    ['Sequences', sequence && `${plural(sequence.inputs, 'input')}, ${plural(sequence.targets, 'target')}, up to ${plural(sequence.longest, 'step')}`],
    ['Samples', counts && Object.entries(counts).filter(([, n]) => n > 0).map(([part, n]) => `${part} ${count(n)}`).join(', ')],
    ['Made', `${time(row.created_at)} by ${row.created_by}`], ['SHA-256', row.digest && h('code', {}, row.digest)],
  ];
  return h('dl', {class: 'facts', 'data-test': 'dataset-facts'},
    rows.filter(([, shown]) => shown).map(([key, shown]) => [h('dt', {}, key), h('dd', {}, shown)]));
}

/** While it is not ready: how far it is, or why it is not. */
function progress(row) {
  const received = row.files.reduce((sum, file) => sum + file.received, 0);
  const size = row.files.reduce((sum, file) => sum + (file.size ?? 0), 0);
  const uploading = [h('p', {}, `${bytes(received)} of ${bytes(size)} are there.`),
    h('progress', {max: 1, value: size ? received / size : 0})];
  const checking = [h('p', {}, `A worker looks at every entry: ${percent(row.progress)}.`), h('progress', {max: 1, value: row.progress})];
  return {
    uploading: h('div', {class: 'card'}, uploading), checking: h('div', {class: 'card'}, checking),
    refused: h('p', {class: 'failure', role: 'alert', 'data-test': 'dataset-refused'}, row.error),
  }[row.state] ?? null;
}

/** @returns {HTMLElement[]} what there is to see of a set that has been checked */
function content(row, scope) {
  const {classes, report} = row;
  return [
    classes?.length ? h('div', {class: 'card'}, h('h2', {}, `Classes (${count(classes.length)})`), balance(classes)) : null,
    report ? findings(report, sampleWord(row.kind)) : null,
    row.sequence && report ? columns(report) : null,
    row.state === 'uploading' ? h('div', {class: 'card'}, resume(row, scope.signal)) : null,
    row.state === 'ready' ? [samples(row, scope), jobsOf(row.id, scope)] : null,
  ];
}

async function remove(row, place, signal) {
  const text = `"${row.name}" and its ${sampleWord(row.kind)}s are deleted for good. Jobs that use it keep it from being deleted.`;
  if (!await ask({danger: true, title: 'Delete this data set?', text, verb: 'Delete'})) {
    return;
  }
  try {
    await send('DELETE', `/v1/datasets/${row.id}`, undefined, {signal});
    location.hash = '#/datasets';
  } catch (error) {
    replace(place, failure(error));
  }
}

function head(row, place, signal) {
  const use = row.state === 'ready' ? h('a', {class: 'button primary', href: `#/submit?dataset=${row.id}`, 'data-test': 'dataset-use'}, 'Use in a new job') : null;
  return [
    h('p', {class: 'crumbs'}, h('a', {href: '#/datasets'}, 'Data sets'), h('span', {}, `#${row.number}`)),
    h('div', {class: 'row between'}, h('div', {class: 'row'}, h('h1', {}, row.name), badge(row.state)),
      h('div', {class: 'row'}, use, h('button', {
        type: 'button', class: 'danger', 'data-test': 'dataset-delete', on: {click: () => remove(row, place, signal)},
      }, 'Delete'))),
  ];
}

/** One data set: what it is, what its check found, and what is in it. */
export function view([id], scope) {
  const {signal, title} = scope;
  const top = h('div', {class: 'stack'});
  const wrong = h('div', {});
  const edit = editable(id, signal);
  const state = h('div', {});
  const body = h('div', {class: 'stack gap'});
  let shown = null;
  const show = (row) => {
    title(row.name);
    replace(top, head(row, wrong, signal));
    replace(state, progress(row), facts(row));
    edit.show(row);
    if (shown !== row.state) { // pictures are not fetched anew when the notes change
      shown = row.state;
      replace(body, content(row, scope));
    }
  };
  poll(`/v1/datasets/${id}`, show, {signal, onError: (error) => replace(wrong, failure(error))});
  return h('section', {class: 'view'}, top, wrong, h('div', {class: 'card'}, state, edit), body);
}
