import {tab as confusion} from './confusion.js';
import {tab as curves} from './curves.js';
import {tab as explanations} from './explanations.js';
import {tab as log} from './log.js';
import {tab as network} from './network.js';
import {tab as predict} from './predict.js';
import {tab as profile} from './profile.js';
import {tab as regression} from './regression.js';

/**
 * The tabs of a trial, in their order. Each is {name, label, applies(trial, job), show(trial, job, scope)};
 * applies tells whether it has anything to show of this trial.
 */
export const tabs = [
  curves,
  confusion,
  explanations,
  regression,
  network,
  profile,
  predict,
  log,
];
