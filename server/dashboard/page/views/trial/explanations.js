import {get} from '../../api.js';
import {bars} from '../../charts/bars.js';
import {ramp} from '../../charts/ramp.js';
import {h, replace, set} from '../../dom.js';
import {percent, plural} from '../../format.js';
import {isExplained, sampleWord} from '../../parts/data_kind.js';
import {download} from '../../parts/download.js';
import {explainItem, placeWords, rowsOf} from '../../parts/explain.js';
import {failure} from '../../parts/failure.js';
import {choice, field} from '../../parts/field.js';
import {mapsOf} from '../../parts/maps.js';
import {picture} from '../../parts/picture.js';
import {chosenMethod, methodChoice} from './explanation_method.js';

/** Layers that change nothing that could be seen, or keep no activation. */
const UNSEEN = new Set(['image_input', 'input', 'softmax', 'dropout', 'flatten']);

/** Where the scores are no numbers. */
const NO_CLASS = 'no class';

const layersOf = (trial) => (trial.resolved?.network?.layers ?? []).filter(({kind}) => !UNSEEN.has(kind));
const pathOf = (trial, item) => `/v1/datasets/${trial.dataset}/items/${item}/image`;

/** The numbers of an array as a file. */
function saveButton(row, text, signal) {
  const name = `${[row.method, row.layer].filter(Boolean).join('-')}-item-${row.sample ?? 'posted'}${row.class ? `-${row.class}` : ''}.json`;
  return h('button', {class: 'small', 'data-test': 'save-array', on: {click: () => download(row.path, name, {accept: 'application/json', signal})}}, text);
}

function tiles(row, signal) {
  const [height, width, channels] = row.shape;
  const words = `${plural(channels, 'channel')} of ${height} x ${width}`;
  const image = picture(row.path, {alt: `Activation of ${row.layer}: ${words}`, signal});
  return h('div', {class: 'stack', 'data-test': 'activation'}, h('div', {class: 'row between'}, h('span', {class: 'small muted'}, `${row.layer}: ${words}`),
    saveButton(row, 'Save numbers', signal)), ramp(height * width === 1 ? 'Over all channels' : 'In each channel', 'its smallest number', 'its largest', ['rgb(0 0 0)', 'rgb(255 255 255)']), h('div', {class: 'tiles'}, image));
}

/** The activation of a layer that somebody chooses: kept ones at once, others asked for. */
function activations(trial, item, kept, signal) {
  const layers = layersOf(trial);
  const known = kept.find(({method}) => method === 'activations');
  const first = known?.layer ?? layers.find(({kind}) => kind === 'convolution')?.name ?? layers[0]?.name;
  const box = h('div', {}, h('p', {class: 'muted small'}, 'A layer is asked for when it is chosen.'));
  const show = async (layer) => {
    const row = kept.find((one) => one.method === 'activations' && one.layer === layer);
    replace(box, h('p', {class: 'muted small', role: 'status'}, 'The network is asked …'));
    const found = row ?? rowsOf(await explainItem(trial.id, {item, method: 'activations', layer}, signal))[0];
    replace(box, tiles(found, signal));
  };
  const say = (error) => signal.aborted || replace(box, failure(error));
  const select = choice(layers.map(({name, kind}) => [name, `${name} (${kind})`]), {value: first, 'data-test': 'layer', on: {change: () => show(select.value).catch(say)}});
  if (known) {
    show(first).catch(say);
  }
  const ask = h('button', {'data-test': 'show-activation', on: {click: () => show(select.value).catch(say)}}, 'Show');
  return h('section', {class: 'card'}, h('h2', {}, 'Activations'), h('div', {class: 'row matrix-controls'}, field('Layer', select), ask), box);
}

function facts(row) {
  const {name, sample, true: truth, predicted, probability} = row;
  const right = truth === predicted;
  return h('p', {class: 'row', 'data-test': 'picture-facts'}, h('span', {class: right ? 'verdict good' : 'verdict bad'}, right ? 'right' : 'wrong'),
    h('span', {}, h('b', {}, truth), right ? '' : ' taken for ', right ? null : h('b', {}, predicted ?? NO_CLASS)),
    predicted === null ? null : h('span', {class: 'muted'}, `${percent(probability)} sure`), h('span', {class: 'muted small break'}, `item ${sample} of the data set, ${name}, ${placeWords(row)}`));
}

/** One sample: maps of what the network saw in it, what else it could be, activations. */
function itemView(trial, kind, item, kept, signal) {
  const copy = () => picture(pathOf(trial, item), {alt: `Item ${item} of the data set`, signal, kind});
  const maps = h('div', {});
  const head = h('div', {});
  const saves = h('div', {class: 'row'});
  const classes = h('div', {class: 'stack'});
  const draw = (rows, own) => {
    replace(head, facts(rows[0]));
    replace(maps, mapsOf(rows, copy, own));
    replace(saves, rows.map((row) => saveButton(row, `Save the map for ${row.class}`, signal)));
  };
  let current = new AbortController();
  signal.addEventListener('abort', () => current.abort(), {once: true});
  const show = () => {
    current.abort();
    current = new AbortController();
    const own = current.signal;
    const question = chosenMethod();
    const isUsual = Object.keys(question).length === 1; // else the trial kept other maps
    const known = isUsual ? kept.filter(({method}) => method === question.method) : [];
    replace(saves);
    if (known.length > 0) {
      draw(known, own);
    } else {
      replace(maps, h('p', {class: 'muted small', role: 'status'}, 'The network is asked why …'));
    }
    explainItem(trial.id, {item, ...question}, own).then((answer) => {
      choosing.offer(answer.result.classes.map(({name}) => name));
      if (known.length === 0) {
        draw(rowsOf(answer), own);
      }
      replace(classes, h('h3', {}, 'What it could be'), bars(answer.result.classes.map(({name, probability}) => ({name, share: probability})), {marked: answer.result.true, label: 'Probabilities of the classes'}));
    }).catch((error) => own.aborted || replace(known.length > 0 ? classes : maps, failure(error)));
  };
  const choosing = methodChoice(kind, show);
  show();
  return [h('section', {class: 'card'}, h('h2', {}, 'What the network saw'), head, choosing.element, h('div', {class: 'looked'}, h('div', {class: 'stack'}, maps, saves), classes)), activations(trial, item, kept, signal)];
}

/** The kept samples to choose from, and a field for any other. */
function chooser(trial, kind, samples, onPick, signal) {
  const buttons = samples.map((row) => h('button', {class: 'thumbnail', 'data-test': 'kept-picture', 'data-sample': row.sample, title: `${row.true}, predicted ${row.predicted ?? NO_CLASS}`, 'aria-label': `Item ${row.sample}: ${row.true}, predicted ${row.predicted ?? NO_CLASS}`, on: {click: () => onPick(row.sample)}},
    h('span', {class: 'pair'}, picture(pathOf(trial, row.sample), {alt: '', signal, kind})), h('span', {class: 'small clip'}, row.true)));
  const number = h('input', {type: 'number', min: 0, step: 1, required: true, 'data-test': 'item', inputmode: 'numeric'});
  const form = h('form', {class: 'stack', on: {submit: (event) => { event.preventDefault(); onPick(Number(number.value)); }}},
    field('Any item of the data set', number, 'By its number'), h('button', {'data-test': 'show-item'}, 'Show'));
  const mark = (item) => {
    buttons.forEach((one) => set(one, {'aria-pressed': String(Number(one.dataset.sample) === item)}));
    number.value = String(item);
  };
  const some = samples.length > 0 ? [h('h2', {}, 'Kept by the trial'), h('div', {class: 'thumbnails'}, buttons)] : h('p', {class: 'muted small'}, `The job asked for no explanations; any ${sampleWord(kind)} can still be asked about.`);
  return {element: h('section', {class: 'card'}, some, form), mark};
}

async function fill(trial, kind, scope, body) {
  const {items} = await get(`/v1/trials/${trial.id}/explanations`, scope);
  const kept = items.map((row) => ({...row, path: `/v1/trials/${trial.id}/explanations/${row.n}`}));
  const samples = [...new Map(kept.map((row) => [row.sample, row])).values()];
  const shown = h('div', {class: 'stack'}, h('p', {class: 'empty'}, `Choose a ${sampleWord(kind)}.`));
  let current = new AbortController();
  scope.signal.addEventListener('abort', () => current.abort(), {once: true});
  const pick = (item) => {
    current.abort();
    current = new AbortController();
    scope.setQuery({item});
    choosing.mark(item);
    replace(shown, itemView(trial, kind, item, kept.filter(({sample}) => sample === item), current.signal));
  };
  const choosing = chooser(trial, kind, samples, pick, scope.signal);
  replace(body, h('div', {class: 'explained'}, choosing.element, shown));
  const asked = Number(scope.query.get('item') ?? samples[0]?.sample ?? 'none');
  if (Number.isInteger(asked)) {
    pick(asked);
  }
}

/** Maps and activations of single samples. */
export const tab = {
  name: 'explanations',
  label: 'Explanations',
  applies: (trial, job) => isExplained(job.kind),
  show(trial, job, scope) {
    const body = h('div', {}, h('p', {class: 'empty'}, 'Loading …'));
    fill(trial, job.kind, scope, body).catch((error) => scope.signal.aborted || replace(body, failure(error)));
    return body;
  },
};
