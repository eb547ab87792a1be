/** What a person can ask of a trial, by its state (the diagram stands in server/jobs/transition.c). */

import {send} from '../api.js';
import {h, replace} from '../dom.js';
import {ask} from './ask.js';
import {askEpochs} from './epochs.js';
import {askFork} from './fork.js';
import {act} from './message.js';

const STATES = ['queued', 'running', 'paused', 'completed', 'stopped', 'cancelled', 'failed'];

/**
 * `lost`: what is asked before. `body`: asks for what goes with it; null: nothing is to be done. `makes`: a job, which is shown then.
 */
const VERBS = [
  {verb: 'pause', label: 'Pause', states: ['running'], tells: 'Writes a checkpoint and waits.'},
  {verb: 'resume', label: 'Resume', states: ['paused'], tells: 'Goes on from its checkpoint.'},
  {verb: 'stop', label: 'Stop', states: ['running', 'paused'], tells: 'Finishes the step, evaluates and keeps what was learned.'},
  {verb: 'cancel', label: 'Cancel', states: ['queued', 'running', 'paused'],
    lost: 'It ends at once, and nothing of it is kept: no figures, no curves, no network.'},
  {verb: 'restart', label: 'Restart', states: ['stopped', 'cancelled', 'failed'],
    lost: 'It begins anew; the curves, figures and network that it left are thrown away.'},
  {verb: 'extend', label: 'Extend', states: ['completed', 'stopped'], tells: 'Goes on with more epochs.',
    body: (trial) => askEpochs(`trial ${trial.index}`, trial.resolved.training.epochs, trial.state === 'stopped')},
  {verb: 'duplicate', label: 'Duplicate', states: STATES, tells: 'Runs it once more, in a job of its own.', makes: true},
  {verb: 'fork', label: 'Fork', states: ['completed', 'stopped', 'paused'], tells: 'Trains its weights on in another trial.', body: askFork, makes: true},
];

async function bodyOf({label, lost, body}, trial) {
  if (body) {
    return body(trial);
  }
  return !lost || await ask({title: `${label} trial ${trial.index}?`, text: lost, verb: label, danger: true}) ? {} : null;
}

function verbButton(row, trial, after) {
  const {verb, label, tells, lost, makes} = row;
  const button = h('button', {type: 'button', class: lost ? 'small danger' : 'small', title: tells ?? lost, 'data-test': `verb-${verb}`}, label);
  button.addEventListener('click', async () => {
    const body = await bodyOf(row, trial);
    if (body) {
      await act(button, async () => {
        const answer = await send('POST', `/v1/trials/${trial.id}/${verb}`, body);
        if (makes) {
          location.hash = `#/jobs/${answer.id}`;
        } else {
          await after();
        }
      });
    }
  });
  return button;
}

/**
 * Buttons for one trial.
 * @param {function(): Promise} after something was done
 * @returns {HTMLElement} with update(trial)
 */
export function trialVerbs(after) {
  const box = h('div', {class: 'row trial-verbs', role: 'group', 'aria-label': 'What to do with the trial'});
  let shown = '';
  box.update = (trial) => {
    const key = `${trial.state} ${trial.requested} ${trial.resolved.training?.epochs}`;
    if (key === shown) {
      return; // a button that has the focus stays
    }
    shown = key;
    replace(box, trial.requested ? h('span', {class: 'muted small'}, `${trial.requested} was asked for`) : null,
      VERBS.filter(({verb, states}) => states.includes(trial.state) && trial.requested !== verb).map((row) => verbButton(row, trial, after)));
  };
  return box;
}
