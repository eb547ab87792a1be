/** Jobs as a table; on a narrow screen each is a card. */

import {h, replace} from '../dom.js';
import {count, metricName, number, plural, time} from '../format.js';
import {badge} from './badge.js';
import {keyed} from './keyed.js';
import {progress} from './progress.js';
import {severalTargets} from './targets.js';
import {when} from './when.js';

const FINAL = new Set(['completed', 'stopped', 'cancelled', 'failed']);
const TIMES = {created_at: 'Submitted', updated_at: 'Changed'};

function trialsCell({trial_count: total, counts, progress: share, state}) {
  const failed = counts.failed ? h('span', {class: 'bad'}, ` · ${count(counts.failed)} failed`) : null;
  const ended = counts.completed + counts.stopped + counts.cancelled + counts.failed;
  return FINAL.has(state)
    ? [plural(total, 'trial'), failed]
    : [progress(share, 'Progress of the job', `${count(ended)} / ${count(total)}`), failed];
}

function bestCell({best, headline_metric: metric, target_parameters: targets}) {
  return best
    ? [h('a', {href: `#/trials/${best.trial}`, class: 'strong'}, number(best.value)), h('div', {class: 'muted small nowrap'}, metricName(metric)),
      severalTargets(targets)]
    : h('span', {class: 'muted'}, '–');
}

function nameCell(job, withExperiment) {
  const about = [withExperiment && job.experiment ? h('a', {href: `#/experiments/${job.experiment.id}`}, job.experiment.name) : null,
    h('span', {}, job.kind.replaceAll('_', ' '))];
  return [
    h('div', {class: 'row'}, h('a', {class: 'strong break', href: `#/jobs/${job.id}`, 'data-test': 'job-link'}, job.name || `Job ${job.number}`),
      (job.labels ?? []).map((label) => h('span', {class: 'chip'}, label)), job.archived ? h('span', {class: 'chip'}, 'archived') : null),
    h('div', {class: 'muted small dotted'}, about),
  ];
}

/** All that is known of when, for a tooltip. */
function timesText({created_at: made, started_at: begun, finished_at: ended}) {
  return [['submitted', made], ['started', begun], ['ended', ended]].filter(([, at]) => at).map(([word, at]) => `${word} ${time(at)}`).join(', ');
}

/** On a telephone, where there is no heading, with its word. */
function timeCell(job, shown) {
  return h('td', {class: 'muted time', 'data-test': 'job-time', 'data-word': TIMES[shown].toLowerCase()}, when(job[shown], timesText(job)));
}

function jobRow(job, shown, withExperiment) {
  return h('tr', {'data-test': 'job-row', 'data-id': job.id},
    h('td', {class: 'wide'}, nameCell(job, withExperiment)),
    h('td', {}, badge(job.paused && job.state !== 'paused' && !FINAL.has(job.state) ? 'paused' : job.state)),
    h('td', {class: 'trials'}, trialsCell(job)),
    h('td', {}, bestCell(job)),
    h('td', {class: 'clip'}, h('a', {href: `#/datasets/${job.dataset.id}`, class: 'muted'}, job.dataset.name)),
    timeCell(job, shown));
}

/**
 * @param {{withExperiment: boolean}} options
 * @returns {HTMLElement} with a method `show(jobs, time)`, the time that they are sorted by: `created_at` or `updated_at`; rows of
 *   jobs that have not changed stay as they are
 */
export function jobTable({withExperiment}) {
  const body = h('tbody', {});
  const timeHead = h('th', {scope: 'col'});
  const heads = ['Job', 'State', 'Trials', 'Best', 'Data'];
  const box = h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Jobs'},
    h('table', {class: 'jobs', 'data-test': 'jobs'},
      h('thead', {}, h('tr', {}, heads.map((text) => h('th', {scope: 'col'}, text)), timeHead)), body));
  const draw = keyed(body, ({job}) => job.id, ({job, shown}) => jobRow(job, shown, withExperiment));
  box.show = (jobs, shown = 'created_at') => {
    replace(timeHead, TIMES[shown]);
    draw(jobs.map((job) => ({job, shown})));
  };
  return box;
}
