/** What a trial is and how far it is, above its tabs; kept up to date. */

import {send} from '../api.js';
import {h, replace} from '../dom.js';
import {count, duration, metricName, number, percent, plural, time, value} from '../format.js';
import {badge} from './badge.js';
import {editable, editableLabels} from './edit.js';
import {trialVerbs} from './trial_verbs.js';

const TROUBLED = new Set(['failed', 'cancelled']);

function parameterChips(trial) {
  const chips = Object.entries(trial.parameters).map(([key, chosen]) =>
    h('span', {class: 'chip parameter', title: key}, h('span', {class: 'muted'}, `${key.split('.').pop().replaceAll('_', ' ')} `), value(chosen)));
  return [...chips, h('span', {class: 'chip parameter'}, h('span', {class: 'muted'}, 'seed '), String(trial.seed))];
}

function progressLine(trial) {
  if (!trial.total_steps) {
    return null;
  }
  const share = trial.step / trial.total_steps;
  const phase = trial.state === 'running' && trial.phase ? `, ${trial.phase}` : '';
  return h('div', {class: 'stack trial-progress'},
    h('progress', {max: '1', value: String(share), 'aria-label': 'Progress', 'data-test': 'trial-progress'}),
    h('span', {class: 'muted small'}, `step ${count(trial.step)} of ${count(trial.total_steps)} (${percent(share)}), epoch ${trial.epoch}${phase}`));
}

/** Sentences of the service: how it ended, and what it warns of. */
function sentences(trial) {
  const kind = trial.state === 'failed' ? 'failure' : 'note';
  return [
    trial.state === 'running' ? null : h('p', {class: TROUBLED.has(trial.state) ? kind : 'trial-said', 'data-test': 'trial-explanation'}, trial.explanation),
    trial.warnings.map((text) => h('p', {class: 'warning'}, text)),
  ];
}

function facts(trial) {
  const attempt = trial.attempts.at(-1);
  const rows = [
    [metricName(trial.headline_metric), trial.headline_value === null ? null : number(trial.headline_value)],
    ['Took', trial.seconds === null ? null : duration(trial.seconds)],
    ['Started', trial.started_at ? time(trial.started_at) : null],
    ['Attempt', attempt ? `${trial.attempt} of ${trial.max_attempts} on ${attempt.host}, up to ${plural(attempt.threads, 'thread')}` : null],
  ];
  return rows.filter(([, shown]) => shown !== null).map(([key, shown]) => h('div', {}, h('dt', {}, key), h('dd', {}, shown)));
}

/* ----------------------------------------------------------------------------------- attempts */

const ATTEMPT = [
  ['Attempt', ({n}) => n], ['Outcome', ({outcome}) => outcome ?? 'at work'], ['From step', ({resumed_step: step}) => (step === null ? '–' : count(step))],
  ['Claimed', ({claimed_at: at}) => time(at)], ['Ended', ({ended_at: at}) => time(at)], ['Host', ({host}) => host],
  ['Core', ({core_build: build, core_type: type, instruction_set: set}) => `${build.slice(0, 8)} ${type} ${set}`],
  ['Reason', ({error_text: text, bits_may_differ: differ}) => text ?? (differ ? 'resumed from another build: bits may differ' : '')],
];

/** Where it ran and how each try ended: of interest when something went wrong. */
function attemptsBox() {
  const summary = h('summary', {});
  const body = h('tbody', {});
  const box = h('details', {'data-test': 'trial-attempts'}, summary,
    h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Attempts'}, h('table', {class: 'small'},
      h('thead', {}, h('tr', {}, ATTEMPT.map(([title]) => h('th', {scope: 'col'}, title)))), body)));
  box.update = ({attempts}) => {
    box.hidden = attempts.length === 0;
    replace(summary, `Attempts (${attempts.length})`);
    replace(body, attempts.map((attempt) => h('tr', {}, ATTEMPT.map(([, cell]) => h('td', {}, cell(attempt))))));
  };
  return box;
}

/** What stays while the rest is drawn anew, so that nobody loses the focus: the data, labels and notes. */
function annotations(trial, job) {
  const patch = (changes) => send('PATCH', `/v1/trials/${trial.id}`, changes);
  const labels = editableLabels(trial.labels, (words) => patch({labels: words}), {label: 'Labels', empty: 'No labels', name: 'trial-labels'});
  const notes = editable(trial.notes, (text) => patch({notes: text}), {label: 'Notes', empty: 'No notes', lines: true, name: 'trial-notes'});
  const list = h('dl', {class: 'facts trial-annotations'},
    h('dt', {}, 'Data'), h('dd', {}, h('a', {href: `#/datasets/${trial.dataset}`, 'data-test': 'trial-data'}, job.dataset.name)),
    h('dt', {}, 'Labels'), h('dd', {}, labels), h('dt', {}, 'Notes'), h('dd', {}, notes));
  list.update = (next) => {
    labels.update(next.labels);
    notes.update(next.notes);
  };
  return list;
}

/**
 * @param {Object} job
 * @param {Object} first the trial
 * @param {function(): Promise} after a verb did something
 * @returns {HTMLElement} with update(trial)
 */
export function trialHead(job, first, after) {
  const heading = h('div', {class: 'row'});
  const verbs = trialVerbs(after);
  const own = annotations(first, job);
  const chips = h('div', {class: 'row', 'data-test': 'trial-parameters'});
  const said = h('div', {class: 'stack'});
  const list = h('dl', {class: 'trial-facts', 'data-test': 'trial-facts'});
  const attempts = attemptsBox();
  const crumbs = h('nav', {class: 'crumbs', 'aria-label': 'Where this lies'},
    job.experiment ? h('a', {href: `#/experiments/${job.experiment.id}`}, job.experiment.name) : null,
    h('a', {href: `#/jobs/${job.id}`, 'data-test': 'trial-job'}, job.name || `Job ${job.number}`));
  const head = h('header', {class: 'stack trial-head', 'data-test': 'trial-head'}, crumbs,
    h('div', {class: 'row between'}, heading, verbs), chips, said, list, own, attempts);
  head.update = (trial) => {
    replace(heading, h('h1', {}, `Trial ${trial.index}`), badge(trial.state), trial.discarded ? h('span', {class: 'chip'}, 'discarded') : null);
    verbs.update(trial);
    own.update(trial);
    replace(chips, parameterChips(trial));
    replace(said, trial.state === 'completed' ? null : progressLine(trial), sentences(trial));
    replace(list, facts(trial));
    attempts.update(trial);
  };
  return head;
}
