/** What the team has done: experiments, and the jobs that run and have run. */

import {poll} from '../api.js';
import {curlButton} from '../curl.js';
import {h, replace, set} from '../dom.js';
import {plural} from '../format.js';
import {failure} from '../parts/failure.js';
import {jobTable} from '../parts/jobs.js';
import {experimentCards} from './home/experiments.js';
import {filterBar} from './home/filters.js';

const PAGE = 50;
const SLOW_MS = 10000; // between looks at the experiments, which change when jobs are made and end
const FIELDS = 'id,number,kind,name,experiment,dataset,state,paused,archived,labels,headline_metric,target_parameters,trial_count,counts,progress,best,'
  + 'created_at,started_at,finished_at';

/** The time that the list is sorted by, or the one that tells most where it is sorted by something else. */
function timeOf(query) {
  return query.get('sort') === '-updated_at' ? 'updated_at' : 'created_at';
}

/** The list's path for what the address asks for. */
function pathOf(query) {
  const asked = new URLSearchParams({limit: String(PAGE), fields: timeOf(query) === 'updated_at' ? `${FIELDS},updated_at` : FIELDS});
  for (const name of ['search', 'state', 'kind', 'archived', 'sort', 'label', 'cursor']) {
    if (query.get(name)) {
      asked.set(name, query.get(name));
    }
  }
  return `/v1/jobs?${asked}`;
}

/** A service without any job says how to begin. */
function welcome() {
  return h('div', {class: 'card empty', 'data-test': 'welcome'},
    h('h2', {}, 'Nothing has been trained yet'),
    h('p', {}, 'Bring in ', h('a', {href: '#/datasets'}, 'data'), ', then submit a ', h('a', {href: '#/submit'}, 'new job'),
      '; or try the demonstration: ', h('code', {}, 'make demo'), '.'));
}

/** Buttons to older jobs and back to the newest. */
function pager(query, next, turn) {
  const newest = h('button', {type: 'button', hidden: !query.get('cursor'), on: {click: () => turn('')}, 'data-test': 'newest'}, '← Newest');
  const older = h('button', {type: 'button', hidden: !next, on: {click: () => turn(next)}, 'data-test': 'older'}, 'Older →');
  return h('div', {class: 'row end'}, newest, older);
}

/**
 * @param {string[]} _
 * @param {Object} scope
 * @returns {HTMLElement}
 */
export function view(_, {signal, query, setQuery, title}) {
  title('Experiments');
  const table = jobTable({withExperiment: true});
  const below = h('div', {});
  const said = h('p', {class: 'only-readers', role: 'status'});
  let again = new AbortController();

  const show = ({items, next_cursor: next}) => {
    const isFiltered = [...query.keys()].length > 0;
    set(table, {hidden: items.length === 0});
    table.show(items, timeOf(query));
    replace(said, plural(items.length, 'job'));
    replace(below, items.length ? pager(query, next, turn) : isFiltered ? h('p', {class: 'card empty', 'data-test': 'no-match'}, 'No job fits.') : welcome());
  };
  const follow = () => {
    again.abort();
    again = new AbortController();
    poll(pathOf(query), show, {signal: AbortSignal.any([signal, again.signal]), onError: (error) => replace(below, failure(error))});
  };
  const change = (changes) => {
    setQuery({cursor: '', ...changes});
    follow();
  };
  const turn = (cursor) => change({cursor});

  follow();
  const experiments = experimentCards();
  poll('/v1/experiments?limit=100', ({items}) => experiments.show(items), {signal, interval: SLOW_MS});
  return h('section', {class: 'view'},
    h('div', {class: 'row between'}, h('h1', {}, 'Experiments'), curlButton(() => ({method: 'GET', path: pathOf(query)}))),
    experiments, filterBar(query, change), said, table, below);
}
