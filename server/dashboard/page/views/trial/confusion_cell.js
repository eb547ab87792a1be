import {get} from '../../api.js';
import {h, replace} from '../../dom.js';
import {capital, count, percent} from '../../format.js';
import {isExplained, sampleWord} from '../../parts/data_kind.js';
import {failure} from '../../parts/failure.js';
import {heat, heatLegend} from '../../parts/heat.js';
import {picture} from '../../parts/picture.js';
import {openSample} from '../../parts/picture_dialog.js';

const PAGE = 24;
const SMALL_COVER = 0.65; // of a map

/** The maps that the trial kept, by the item and the class that they speak for. */
export async function keptMaps(trialId, signal) {
  const {items} = await get(`/v1/trials/${trialId}/explanations?method=grad_cam`, {signal});
  return new Map(items.filter((row) => row.class === row.predicted).map((row) => [row.sample, row]));
}

/** A sequence has no picture, and no maps. */
function sequenceTile(row) {
  return h('span', {class: 'thumbnail', 'data-test': 'thumbnail', 'data-sample': row.sample}, h('span', {}, `Sequence ${row.sample}`), h('span', {class: 'small'}, percent(row.probability)));
}

/** A map that the trial kept, in the colours in which it is shown large. */
function smallMap(trial, map, under, signal) {
  const path = `/v1/trials/${trial.id}/explanations/${map.n}`;
  const {element, cover} = heat(under, path, {signal, label: 'its Grad-CAM map', onEmpty: () => {}, onError: () => element.remove()});
  cover(SMALL_COVER);
  return element;
}

function thumbnail({trial, kind}, rows, i, kept, signal) {
  const row = rows[i];
  if (!row.image) {
    return sequenceTile(row);
  }
  const map = kept.get(row.sample);
  const words = `Item ${row.sample}, ${row.true} taken for ${row.predicted}, ${percent(row.probability)} sure`;
  return h('button', {class: 'thumbnail', 'data-test': 'thumbnail', 'data-sample': row.sample, 'aria-label': `${words}: show ${isExplained(kind) ? 'why' : 'it large'}`, on: {click: () => openSample({trial, kind}, rows, i, signal)}},
    h('span', {class: 'pair'}, picture(row.image, {alt: '', signal, kind}), map ? smallMap(trial, map, picture(row.image, {alt: '', signal, kind}), signal) : null),
    h('span', {class: 'small'}, percent(row.probability)));
}

function heading(model, [t, p], part) {
  const k = model.at(t, p);
  const names = t === p ? [h('b', {}, model.classes[t]), ' found'] : [h('b', {}, model.classes[t]), ' taken for ', h('b', {}, model.classes[p])];
  return h('h2', {'data-test': 'cell-title', tabindex: -1}, names, h('span', {class: 'muted'}, ` · ${count(k)} of the ${part} part`));
}

function noteOf({kind}, rows, wasCounted) {
  const click = isExplained(kind) ? ' A click shows why: maps of the predicted and of the true class.' : ' A click shows it large.';
  return rows.length > 0 ? `Below each, how sure the network was.${rows[0].image ? click : ''}`
    : wasCounted ? `Of the ${sampleWord(kind)}s that trained only the mistakes are kept one by one.` : 'There is none.';
}

/**
 * The samples of one cell, page by page; each opens in a dialog.
 * @param {{trial: Object, kind: string}} of kind: that of its job
 * @param {Object} model of the matrix
 * @param {[number, number]} chosen true and predicted class
 * @param {AbortSignal} signal
 */
export function cellSamples(of, model, chosen, signal) {
  const part = model.part;
  const [t, p] = chosen;
  const rows = [];
  const grid = h('div', {class: 'thumbnails', 'data-test': 'thumbnails'});
  const more = h('button', {hidden: true, 'data-test': 'more', on: {click: () => fetchPage()}}, 'More');
  const note = h('p', {class: 'muted small'});
  const legend = h('div', {hidden: true}, heatLegend());
  let cursor = null;
  const kept = keptMaps(of.trial.id, signal);
  async function fetchPage() {
    const name = (k) => encodeURIComponent(model.classes[k]);
    const path = `/v1/trials/${of.trial.id}/predictions?part=${part}&true=${name(t)}&predicted=${name(p)}&limit=${PAGE}`;
    const [page, maps] = await Promise.all([get(cursor ? `${path}&cursor=${encodeURIComponent(cursor)}` : path, {signal}), kept]);
    const from = rows.length;
    rows.push(...page.items);
    grid.append(...page.items.map((_, i) => thumbnail(of, rows, from + i, maps, signal)));
    legend.hidden = !grid.querySelector('.heat');
    cursor = page.next_cursor;
    more.hidden = !cursor;
    note.textContent = noteOf(of, rows, model.at(t, p) > 0 && part === 'train');
  }
  fetchPage().catch((error) => signal.aborted || replace(note, failure(error)));
  return h('section', {class: 'card', 'data-test': 'cell-samples', 'aria-label': capital(`${sampleWord(of.kind)}s of the chosen cell`)}, heading(model, chosen, part), note, legend, grid, more);
}
