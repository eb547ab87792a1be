/** One experiment: the history of its jobs and the best trials among them. */

import {get, poll, send} from '../api.js';
import {curlButton} from '../curl.js';
import {h, replace} from '../dom.js';
import {count, plural, time} from '../format.js';
import {editable} from '../parts/edit.js';
import {failure} from '../parts/failure.js';
import {jobTable} from '../parts/jobs.js';
import {best} from './experiment/best.js';

const LIMIT = 100;

/** Name and notes, edited where they stand. */
function head(experiment, signal) {
  const patch = (changes) => send('PATCH', `/v1/experiments/${experiment.id}`, changes, {signal});
  const {job_count: jobs, trial_count: trials, completed_count: completed} = experiment;
  return [
    h('h1', {}, editable(experiment.name, (name) => patch({name}), {label: 'Rename the experiment', name: 'experiment-name'})),
    h('p', {class: 'muted'}, `${plural(jobs, 'job')}, ${count(completed)} of ${plural(trials, 'trial')} completed · since ${time(experiment.created_at)}`),
    editable(experiment.notes, (notes) => patch({notes}), {label: 'Edit the notes', empty: 'No notes', lines: true, name: 'experiment-notes'}),
  ];
}

/**
 * @param {string[]} parameters its id
 * @param {Object} scope
 * @returns {HTMLElement}
 */
export function view([id], {signal, title}) {
  const top = h('div', {class: 'stack grow'});
  const podium = h('div', {});
  const table = jobTable({withExperiment: false});
  const path = `/v1/jobs?experiment=${id}&archived=any&limit=${LIMIT}`;
  get(`/v1/experiments/${id}`, {signal}).then((experiment) => {
    title(experiment.name);
    replace(top, head(experiment, signal));
  }, (error) => signal.aborted || replace(top, failure(error)));
  poll(path, ({items}) => {
    table.show(items);
    replace(podium, best(items));
  }, {signal, onError: (error) => replace(podium, failure(error))});
  return h('section', {class: 'view'},
    h('p', {class: 'crumbs'}, h('a', {href: '#/'}, 'Experiments')),
    h('div', {class: 'job-head'}, top, curlButton(() => ({method: 'GET', path}))),
    podium, h('h2', {}, 'Jobs'), table);
}
