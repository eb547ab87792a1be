/** What can be asked of a job and of chosen trials; what loses something asks back. */

import {send} from '../../api.js';
import {h} from '../../dom.js';
import {count, plural} from '../../format.js';
import {ask} from '../../parts/ask.js';
import {askEpochs} from '../../parts/epochs.js';
import {act, message} from '../../parts/message.js';
import {link} from '../../router.js';

const AT_ONCE = 4; // requests about trials under way
const OPEN = ['queued', 'running', 'paused'];
const REPEATABLE = ['stopped', 'cancelled', 'failed'];

/** `from`: states of trials that the verb moves; `lost`: what is asked before; `body`: asks for what goes with it. */
const VERBS = [
  {name: 'pause', label: 'Pause', from: ['queued', 'running'], fits: (job) => !job.paused},
  {name: 'resume', label: 'Resume', from: ['paused'], fits: (job) => job.paused, always: true},
  {name: 'stop', label: 'Stop', from: OPEN},
  {name: 'cancel', label: 'Cancel', from: OPEN, danger: true,
    lost: 'Unfinished trials end at once, and nothing of them is kept: no figures, no curves, no network.'},
  {name: 'restart', label: 'Restart', from: REPEATABLE, danger: true,
    lost: 'Stopped, cancelled and failed trials begin anew; the curves, figures and networks that they left are thrown away.'},
  {name: 'extend', label: 'Extend', from: ['completed', 'stopped'], body: askEpochs},
];

function moved(verb, counts) {
  return verb.from.reduce((sum, state) => sum + counts[state], 0);
}

/** The body of the request; null when it is not meant. */
async function bodyOf(verb, what, had = undefined, open = false) {
  if (verb.body) {
    return verb.body(what, had, open);
  }
  return !verb.lost || await ask({title: `${verb.label} ${what}?`, text: verb.lost, verb: verb.label, danger: verb.danger}) ? {} : null;
}

function jobButton(verb, job, after) {
  const button = h('button', {type: 'button', class: verb.danger ? 'danger' : null, 'data-test': `job-${verb.name}`}, verb.label);
  button.addEventListener('click', async () => {
    const body = await bodyOf(verb, 'the trials of this job', job.resolved?.training?.epochs, job.counts.stopped > 0);
    if (body) {
      await act(button, async () => {
        await send('POST', `/v1/jobs/${job.id}/${verb.name}`, body);
        after();
        return `${verb.label}: done.`;
      });
    }
  });
  return button;
}

/**
 * Buttons for what fits the job's state.
 * @param {Object} job
 * @param {function()} after called when something was done
 */
export function jobVerbs(job, after) {
  const fitting = VERBS.filter((verb) => (verb.fits?.(job) ?? true) && (verb.always || moved(verb, job.counts) > 0));
  const shelf = job.archived ? {name: 'unarchive', label: 'Take from the archive'} : {name: 'archive', label: 'Archive'};
  return h('div', {class: 'row', role: 'group', 'aria-label': 'What to do with the job'},
    fitting.map((verb) => jobButton(verb, job, after)), jobButton(shelf, job, after),
    h('a', {class: 'button', href: link('/submit', {from: job.id}), 'data-test': 'job-duplicate'}, 'Duplicate'));
}

/** Does something to each, a few at once; how many took it and the first refusal. */
async function each(ids, action) {
  const waiting = [...ids];
  let done = 0;
  let refusal = null;
  const worker = async () => {
    for (let id = waiting.pop(); id; id = waiting.pop()) {
      try {
        await action(id);
        done++;
      } catch (error) {
        refusal ??= error;
      }
    }
  };
  await Promise.all(Array.from({length: AT_ONCE}, worker));
  return {done, refusal};
}

function trialAction(label, danger, name, run) {
  const button = h('button', {type: 'button', class: danger ? 'small danger' : 'small', 'data-test': `trials-${name}`}, label);
  button.addEventListener('click', () => act(button, run));
  return button;
}

/** Says how it went: not every chosen trial is in a state to take every verb. */
function report(label, {done, refusal}, total) {
  if (refusal) {
    message(`${label}: ${count(done)} of ${plural(total, 'trial')}. ${refusal.message}`, done > 0 ? 'good' : 'bad');
    return null;
  }
  return `${label}: ${plural(done, 'trial')}.`;
}

/**
 * Buttons for chosen trials.
 * @param {import('./selection.js').Selection} selection
 * @param {function()} after called when something was done
 */
export function trialVerbs(selection, after) {
  const all = async (label, action) => {
    const {ids} = selection;
    const outcome = await each(ids, action);
    after();
    return report(label, outcome, ids.length);
  };
  const verbs = VERBS.map((verb) => trialAction(verb.label, verb.danger, verb.name, async () => {
    const body = await bodyOf(verb, 'the chosen trials');
    return body ? all(verb.label, (id) => send('POST', `/v1/trials/${id}/${verb.name}`, body)) : null;
  }));
  const discard = (label, discarded) => trialAction(label, false, discarded ? 'discard' : 'take-back', () =>
    all(label, (id) => send('PATCH', `/v1/trials/${id}`, {discarded})));
  return [...verbs, discard('Discard', true), discard('Take back', false)];
}
