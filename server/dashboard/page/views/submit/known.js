/** What the form of a job has to know: the contract, what may be chosen, and the document to begin with. */

import {get, pages} from '../../api.js';
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

/** @returns {Object} the least that a job has: kinds on sequences are named so */
export function start({kinds, datasets}, dataset = datasets[0]?.id) {
  const isSequences = datasets.find(({id}) => id === dataset)?.kind === 'sequences';
  const kind = kinds.find((one) => one.startsWith('sequence') === isSequences) ?? kinds[0];
  return dataset ? {kind, dataset} : {kind};
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
    contract(signal), all('/v1/datasets?state=ready&fields=id,name,kind&limit=500', signal),
    all('/v1/weights?state=ready&fields=id,name&limit=500', signal), all('/v1/networks', signal), all('/v1/experiments?limit=500', signal),
  ]);
  const known = {schema, kinds, datasets, weights, networks, experiments: experiments.map(({name}) => name)};
  return {...known, begin: (query) => begin(known, query, signal)};
}
