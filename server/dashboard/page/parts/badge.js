import {h} from '../dom.js';

/** The state of a job, trial, data set: a word with a colour, never a colour alone. */
export function badge(state) {
  return h('span', {class: `badge state-${state}`, 'data-state': state}, state);
}
