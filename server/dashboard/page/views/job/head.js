/** The top of a job: what it is, how far it is, what can be done. */

import {send} from '../../api.js';
import {h, replace, set} from '../../dom.js';
import {count, duration, metricWords, number, plural, time, value} from '../../format.js';
import {badge} from '../../parts/badge.js';
import {editable, editableLabels} from '../../parts/edit.js';
import {progress} from '../../parts/progress.js';
import {parameterWords, targetsNote} from '../../parts/targets.js';
import {definition} from './definition.js';
import {jobVerbs} from './verbs.js';

function figure(what, much, name) {
  return h('div', {class: 'figure', 'data-test': name}, h('span', {class: 'what'}, what), h('span', {class: 'much'}, much));
}

function stateText({state, paused}) {
  return h('span', {class: 'row'}, badge(state), paused ? h('span', {class: 'chip'}, 'paused: starts no trials') : null);
}

function elapsed({started_at: start, finished_at: end}) {
  return start ? duration((new Date(end ?? Date.now()) - new Date(start)) / 1000) : '–';
}

const BESTS = 6; // more of them are in the table

function bestLink({trial, value: figure}) {
  return h('a', {href: `#/trials/${trial}`}, number(figure));
}

function bestOfTarget(row) {
  const setting = Object.values(row.parameters).map(value).join(', ');
  return h('span', {class: 'nowrap', 'data-test': 'best-of-target'}, h('span', {class: 'muted small'}, `${setting}: `), bestLink(row));
}

/** Where trials have several targets there is a best for each, and none of all. */
function bestFigure({best, best_by_target: bests, target_parameters: names, headline_metric: metric}) {
  if (names.length === 0) {
    return figure(`Best ${metricWords(metric)}`, best ? bestLink(best) : '–', 'job-best');
  }
  const rest = bests.length - BESTS;
  return figure(`Best ${metricWords(metric)} for each ${parameterWords(names)}`, bests.length === 0 ? '–'
    : h('span', {class: 'row bests'}, bests.slice(0, BESTS).map(bestOfTarget), rest > 0 ? h('span', {class: 'muted small'}, `and ${count(rest)} more`) : null), 'job-best');
}

function figures(job) {
  const {counts, trial_count: total} = job;
  const ended = counts.completed + counts.stopped + counts.cancelled + counts.failed;
  return [
    figure('State', stateText(job), 'job-state'),
    h('div', {class: 'figure bar'}, h('span', {class: 'what'}, `${count(ended)} of ${plural(total, 'trial')} ended`),
      progress(job.progress, 'Progress of the job')),
    figure('Running', count(counts.running), 'job-running'),
    figure('Failed', h('span', {class: counts.failed ? 'bad' : null}, count(counts.failed)), 'job-failed'),
    bestFigure(job),
    figure('Time', elapsed(job), 'job-time'),
  ];
}

function crumbs(job) {
  return [h('a', {href: '#/'}, 'Experiments'),
    job.experiment ? h('a', {href: `#/experiments/${job.experiment.id}`}, job.experiment.name) : null,
    h('span', {}, `Job ${job.number}`)];
}

function about(job) {
  return h('p', {class: 'muted dotted'}, h('span', {}, job.kind.replaceAll('_', ' ')),
    h('a', {href: `#/datasets/${job.dataset.id}`}, job.dataset.name),
    h('span', {}, `by ${job.created_by}`), h('span', {}, time(job.created_at)));
}

/**
 * @param {Object} job as it is at first
 * @param {function()} after called when something was done
 * @returns {HTMLElement} with a method `update(job)`
 */
export function jobHead(job, after) {
  const patch = (changes) => send('PATCH', `/v1/jobs/${job.id}`, changes).then(after);
  const name = editable(job.name, (text) => patch({name: text}), {label: 'Rename the job', empty: `Job ${job.number}`, name: 'job-name'});
  const labels = editableLabels(job.labels, (words) => patch({labels: words}), {label: 'Edit the labels', empty: 'No labels', name: 'job-labels'});
  const notes = editable(job.notes, (text) => patch({notes: text}), {label: 'Edit the notes', empty: 'No notes', lines: true, name: 'job-notes'});
  const row = h('div', {class: 'card job-figures'});
  const verbs = h('div', {});
  let fits = '';
  const element = h('div', {class: 'stack'},
    h('p', {class: 'crumbs'}, crumbs(job)),
    h('div', {class: 'job-head'}, h('div', {class: 'stack'}, h('h1', {}, name), about(job)), verbs),
    row, targetsNote(job.target_parameters), h('div', {class: 'job-about'}, h('span', {class: 'muted'}, 'Labels'), labels, h('span', {class: 'muted'}, 'Notes'), notes),
    definition(job));
  element.update = (now) => {
    name.update(now.name);
    labels.update(now.labels);
    notes.update(now.notes);
    replace(row, figures(now));
    const next = JSON.stringify([now.counts, now.paused, now.archived]);
    if (next !== fits) {
      fits = next; // buttons stay while nothing about them changes: somebody may be about to press one
      replace(verbs, jobVerbs(now, after));
    }
    set(element, {'data-revision': String(now.revision)});
  };
  element.update(job);
  return element;
}
