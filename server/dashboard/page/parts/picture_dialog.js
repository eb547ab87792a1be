import {bars} from '../charts/bars.js';
import {h, replace} from '../dom.js';
import {percent} from '../format.js';
import {isExplained, sampleWord} from './data_kind.js';
import {explainItem, placeWords, rowsOf} from './explain.js';
import {failure} from './failure.js';
import {mapsOf} from './maps.js';
import {picture} from './picture.js';

function facts(row) {
  const right = row.true === row.predicted;
  return h('p', {class: 'row', 'data-test': 'picture-facts'},
    h('span', {class: right ? 'verdict good' : 'verdict bad'}, right ? 'right' : 'wrong'),
    h('span', {}, h('b', {}, row.true), right ? '' : ' taken for ', right ? null : h('b', {}, row.predicted)),
    h('span', {class: 'muted'}, `${percent(row.probability)} sure`));
}

function content({trial, kind}, row, signal) {
  const copy = () => picture(row.image, {alt: `Item ${row.sample} of the data set`, signal, kind});
  if (!isExplained(kind)) {
    return [facts(row), h('div', {class: 'maps'}, h('figure', {}, copy()))];
  }
  const why = h('div', {}, h('div', {class: 'maps'}, h('figure', {}, copy(), h('figcaption', {class: 'small muted', role: 'status'}, 'The network is asked why …'))));
  const classes = h('div', {class: 'stack'});
  explainItem(trial.id, {item: row.sample}, signal).then((answer) => {
    replace(why, mapsOf(rowsOf(answer), copy, signal));
    replace(classes, h('h3', {}, 'What it could be'), bars(answer.result.classes.map(({name, probability}) => ({name, share: probability})), {marked: row.true, label: 'Probabilities of the classes'}),
      h('p', {class: 'small muted break'}, `${answer.result.name}, ${placeWords(answer.result)}`));
  }).catch((error) => signal.aborted || replace(why, h('div', {class: 'maps'}, h('figure', {}, copy())), failure(error)));
  return [facts(row), why, classes];
}

/**
 * One sample of the data set as a picture, what the network says of it, and why: a dialog.
 * @param {{trial: Object, kind: string}} of kind: that of its job
 * @param {Object[]} rows predictions {sample, true, predicted, probability, image}
 * @param {number} at the one to begin with
 * @param {AbortSignal} signal of the view
 */
export function openSample(of, rows, at, signal) {
  const word = sampleWord(of.kind);
  let place = at;
  let shown = new AbortController();
  const open = new AbortController();
  const body = h('div', {class: 'stack'});
  const title = h('h2', {class: 'grow'});
  const step = (by, label, text) => h('button', {class: 'small', 'aria-label': label, 'data-test': by < 0 ? 'previous' : 'next', on: {click: () => show(place + by)}}, text);
  const back = step(-1, `Previous ${word}`, '‹');
  const on = step(1, `Next ${word}`, '›');
  const dialog = h('dialog', {class: 'wide', 'data-test': 'picture-dialog', 'aria-label': isExplained(of.kind) ? `A ${word} and its maps` : `A ${word}`, on: {
    close: () => { shown.abort(); open.abort(); dialog.remove(); },
    keydown: ({key, target}) => target.type !== 'range' && show(place + ({ArrowLeft: -1, ArrowRight: 1}[key] ?? 0)),
  }}, h('div', {class: 'stack'}, h('div', {class: 'row'}, title, back, on,
    h('button', {class: 'small', 'data-test': 'close', on: {click: () => dialog.close()}}, 'Close')), body));
  function show(next) {
    if (next < 0 || next >= rows.length || (next === place && title.textContent)) {
      return;
    }
    place = next;
    shown.abort();
    shown = new AbortController();
    title.textContent = `Item ${rows[place].sample}`;
    back.disabled = place === 0;
    on.disabled = place === rows.length - 1;
    replace(body, content(of, rows[place], shown.signal));
  }
  signal.addEventListener('abort', () => dialog.close(), {signal: open.signal});
  document.body.append(dialog);
  dialog.showModal();
  show(at);
}
