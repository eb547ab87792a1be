import {tab as network} from './network.js';
import {tab as regression} from './regression.js';

/**
 * The tabs of a trial, in their order. Each is {name, label, applies(trial, job), show(trial, job, scope)};
 * applies tells whether it has anything to show of this trial.
 */
export const tabs = [
  regression,
  network,
];
