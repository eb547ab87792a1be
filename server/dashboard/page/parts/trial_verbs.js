/** What a person can ask of a trial, by its state (the diagram stands in server/jobs/transition.c). */

import {send} from '../api.js';
import {h, replace} from '../dom.js';

const VERBS = [
  {verb: 'pause', label: 'Pause', states: ['running'], tells: 'Writes a checkpoint and waits.'},
  {verb: 'resume', label: 'Resume', states: ['paused'], tells: 'Goes on from its checkpoint.'},
  {verb: 'stop', label: 'Stop', states: ['running', 'paused'], tells: 'Finishes the step, evaluates and keeps what was learned.'},
  {verb: 'cancel', label: 'Cancel', states: ['queued', 'running', 'paused'], isDangerous: true, tells: 'Ends at once and keeps nothing.'},
  {verb: 'restart', label: 'Restart', states: ['stopped', 'cancelled', 'failed'], isDangerous: true,
    tells: 'Begins again; what it left behind goes.'},
];

/** A button that asks once more where something is lost: the first click arms it. */
function verbButton({verb, label, isDangerous, tells}, ask) {
  const button = h('button', {type: 'button', class: isDangerous ? 'small danger' : 'small', title: tells, 'data-test': `verb-${verb}`}, label);
  let armed = !isDangerous;
  button.addEventListener('click', () => {
    if (armed) {
      ask(verb, button);
    } else {
      armed = true;
      replace(button, `Really ${verb}?`);
    }
  });
  button.addEventListener('blur', () => {
    armed = !isDangerous;
    replace(button, label);
  });
  return button;
}

/**
 * Buttons for one trial.
 * @param {string} id
 * @param {function(Object)} onTrial takes the trial as the service answers
 * @param {AbortSignal} signal
 * @returns {HTMLElement} with update(trial)
 */
export function trialVerbs(id, onTrial, signal) {
  const buttons = h('div', {class: 'row'});
  const trouble = h('p', {class: 'failure', role: 'alert', hidden: true, 'data-test': 'verb-failure'});
  const box = h('div', {class: 'stack trial-verbs'}, buttons, trouble);
  let shown = '';
  const ask = async (verb, button) => {
    button.disabled = true;
    trouble.hidden = true;
    try {
      onTrial(await send('POST', `/v1/trials/${id}/${verb}`, undefined, {signal}));
    } catch (error) {
      if (!signal.aborted) {
        replace(trouble, error.message);
        trouble.hidden = false;
      }
    }
    button.disabled = false;
  };
  box.update = (trial) => {
    const key = `${trial.state} ${trial.requested}`;
    if (key === shown) {
      return; // a button that is armed stays so
    }
    shown = key;
    const verbs = VERBS.filter(({verb, states}) => states.includes(trial.state) && trial.requested !== verb);
    replace(buttons, trial.requested ? h('span', {class: 'muted small'}, `${trial.requested} was asked for`) : null,
      verbs.map((row) => verbButton(row, ask)));
  };
  return box;
}
