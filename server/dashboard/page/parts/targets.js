/** Swept parameters that change what is to be predicted: what is said where trials are ranked or compared. */

import {h} from '../dom.js';
import {capital, metricWords} from '../format.js';

/** @returns {string} "rul threshold" of ["data.rul_threshold"] */
export function parameterWords(names) {
  return names.map((name) => metricWords(name.split('.').at(-1))).join(' and ');
}

/**
 * Why trials are not compared that differ in these, beside what ranks or shows them.
 * @param {string[]} names
 * @param {string} look the class: how loudly it is said
 * @returns {?HTMLElement} null where all have one target
 */
export function targetsNote(names, look = 'note') {
  const words = `${capital(parameterWords(names))} changes what is to be predicted: errors of trials that differ in it are not of one target.`;
  return names.length > 0 ? h('p', {class: look, 'data-test': 'targets-differ'}, words) : null;
}

/** @returns {?HTMLElement} beside the best figure of a whole job, which is that of its easiest target */
export function severalTargets(names) {
  return names.length > 0 ? h('div', {class: 'muted small', 'data-test': 'several-targets'}, `of several targets: ${parameterWords(names)} differs`) : null;
}

/**
 * @param {Object[]} trials as the API shows them one by one
 * @returns {string[]} what of their targets differs between them
 */
export function differingTargets(trials) {
  const names = new Set(trials.flatMap(({target}) => Object.keys(target)));
  return [...names].filter((name) => new Set(trials.map(({target}) => JSON.stringify(target[name]))).size > 1);
}
