/** What the form of a job has to know: the contract, what may be chosen, and the document to begin with. */

import {get, pages} from '../../api.js';
import {dataOf} from '../../parts/data_kind.js';
import {draft} from '../../parts/draft.js';

const KEY = 'assay.job';

/** Keeps the document over a look at another view; only in this tab of the browser. */
export function keep(spec) {
  sessionStorage.setItem(KEY, JSON.stringify(spec));
}

export function forget() {
  sessionStorage.removeItem(KEY);
}

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}

const CLASSED = 'sequences with classes';

/** @returns {string} what the data sets of a kind of jobs hold */
function contentFor(kind) {
  return kind === 'sequence_classification' ? CLASSED : dataOf(kind);
}

function contentOf({kind, class_count: classes}) {
  return kind === 'sequences' && classes > 0 ? CLASSED : kind;
}

function holds({datasets}, dataset) {
  const found = datasets.find(({id}) => id === dataset);
  return found ? contentOf(found) : 'image_classification';
}

/** @returns {Object} the least that a job has */
export function start(known, dataset = known.datasets[0]?.id) {
  const held = holds(known, dataset);
  const kind = known.kinds.find((one) => contentFor(one) === held) ?? known.kinds[0];
  return dataset ? {kind, dataset} : {kind};
}

/**
 * Of pictures, sequences or signals: when kind or data set is changed to another, the other one goes along, and what only
 * the former had a meaning for stays behind.
 * @returns {Object} the document to go on with
 */
export function consistent(known, before, after) {
  if (!after.dataset || !after.kind || contentFor(after.kind) === holds(known, after.dataset)) {
    return after;
  }
  const {network, search, weights, ...rest} = after;
  if (after.dataset !== before.dataset) {
    return {...rest, ...start(known, after.dataset)};
  }
  const fitting = known.datasets.find((one) => contentOf(one) === contentFor(after.kind));
  return fitting ? {...rest, dataset: fitting.id} : after;
}

async function all(path, signal) {
  const found = [];
  for await (const one of pages(path, {signal})) {
    found.push(one);
  }
  return found;
}

/** The contract is asked for once a visit of the page. */
async function contract(signal) {
  const {components, paths} = await get('/openapi.json', {signal});
  const kinds = paths['/v1/jobs'].get.parameters.find(({name}) => name === 'kind').schema.enum;
  return {schema: components.schemas.JobCreate, kinds};
}

/** The document that the address asks for: another job's, with a data set, with a network. */
async function begin(known, query, signal) {
  if (query.get('from')) {
    return (await get(`/v1/jobs/${encodeURIComponent(query.get('from'))}`, {signal})).submitted;
  }
  const before = kept();
  const dataset = query.get('dataset');
  const spec = dataset && dataset !== before?.dataset ? start(known, dataset) : before ?? start(known);
  return query.get('network') === 'draft' && draft() ? {...spec, network: draft()} : spec;
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<Object>} schema, kinds, datasets, weights, networks, experiments (names), and `begin(query)`
 */
export async function learn(signal) {
  const [{schema, kinds}, datasets, weights, networks, experiments] = await Promise.all([
    contract(signal), all('/v1/datasets?state=ready&fields=id,name,kind,class_count&limit=500', signal),
    all('/v1/weights?state=ready&fields=id,name&limit=500', signal), all('/v1/networks', signal), all('/v1/experiments?limit=500', signal),
  ]);
  const known = {schema, kinds, datasets, weights, networks, experiments: experiments.map(({name}) => name)};
  return {...known, begin: (query) => begin(known, query, signal)};
}
