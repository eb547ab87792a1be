/** How weights would fit a network: every tensor, and why not. */

import {get, send} from '../../api.js';
import {curlButton} from '../../curl.js';
import {h, replace} from '../../dom.js';
import {count} from '../../format.js';
import {failure} from '../../parts/failure.js';
import {choice, field} from '../../parts/field.js';

const LISTED = 200;
/** Parts of the report, the bad ones first; `open` ones are shown at once. */
const GROUPS = [
  {name: 'wrong_shape', label: 'Of a wrong shape', bad: true},
  {name: 'missing', label: 'Missing', bad: true},
  {name: 'not_finite', label: 'Not finite', bad: true},
  {name: 'replaced', label: 'Made new (head)'},
  {name: 'unexpected', label: 'Left over'},
  {name: 'matched', label: 'Matched'},
];

function shapeOf({shape, found}) {
  const text = (sizes) => `[${sizes.join(', ')}]`;
  return found && text(found) !== text(shape) ? `${text(shape)}, the file has ${text(found)}` : text(shape);
}

function group({name, label, bad}, tensors) {
  return h('details', {open: Boolean(bad), 'data-test': `match-${name}`},
    h('summary', {class: bad ? 'bad' : null}, `${label}: ${count(tensors.length)}`),
    h('ul', {class: 'mono listing', tabindex: '0'}, tensors.slice(0, LISTED).map((tensor) => h('li', {class: 'break'}, `${tensor.name} ${shapeOf(tensor)}`))),
    tensors.length > LISTED ? h('p', {class: 'muted'}, `and ${count(tensors.length - LISTED)} more`) : null);
}

function report(found) {
  return h('div', {class: 'stack', 'data-test': 'match-report'},
    h('p', {class: found.loadable ? 'note' : 'failure'}, found.loadable ? 'They fit.' : found.text,
      found.head ? ` The layer ${found.head} is made new.` : '', found.prefix_removed ? ` Names in the file begin with "${found.prefix_removed}".` : '',
      found.naming ? ` Names are those of ${found.naming}.` : ''),
    GROUPS.filter(({name}) => found[name].length > 0).map((one) => group(one, found[one.name])));
}

/**
 * A form that asks, and the report.
 * @param {string} id of the weights
 * @param {AbortSignal} signal
 */
export function match(id, signal) {
  const network = choice([], {'data-test': 'match-network'});
  const dataset = choice([['', 'none: so many classes']], {'data-test': 'match-dataset'});
  const classes = h('input', {type: 'number', min: '1', value: '10', 'data-test': 'match-classes'});
  const head = choice([['replaced', 'is made new'], ['kept', 'is kept'], ['replaced_if_other', 'is made new if it has other classes']], {});
  const result = h('div', {});
  const body = () => ({
    network: {name: network.value}, head: head.value, ...(dataset.value ? {dataset: dataset.value} : {classes: classes.valueAsNumber}),
  });
  const form = h('form', {class: 'stack'},
    h('div', {class: 'form-grid'}, field('Network', network), field('Data set', dataset, 'gives pictures and classes'), field('Classes', classes), field('The last layer', head)),
    h('div', {class: 'row end'}, curlButton(() => ({method: 'POST', path: `/v1/weights/${id}/match`, body: body()})),
      h('button', {class: 'primary', type: 'submit', 'data-test': 'match'}, 'Compare names and shapes')));
  dataset.addEventListener('change', () => { classes.disabled = dataset.value !== ''; });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      replace(result, report(await send('POST', `/v1/weights/${id}/match`, body(), {signal})));
    } catch (error) {
      replace(result, failure(error));
    }
  });
  fill(network, dataset, signal).catch((error) => signal.aborted || replace(result, failure(error)));
  return h('div', {class: 'stack'}, h('h3', {}, 'Do they fit a network?'), form, result);
}

/** What there is to choose from. */
async function fill(network, dataset, signal) {
  const [networks, datasets] = await Promise.all([
    get('/v1/networks', {signal}), get('/v1/datasets?state=ready&limit=200&fields=id,name,kind', {signal})]);
  network.append(...networks.items.map(({name, title}) => h('option', {value: name}, title ?? name)));
  dataset.append(...datasets.items.filter(({kind}) => kind === 'image_classification').map(({id, name}) => h('option', {value: id}, name)));
}
