/** What data is of, and what one sample of it is called: a window of a signal is no picture. */

import {capital, metricName} from '../format.js';

const WORDS = {image_classification: 'picture', signals: 'window', sequences: 'sequence'};

/**
 * @param {string} kind of a data set or of a job: those on sequences and signals are named so
 * @returns {string} the kind of data sets
 */
export function dataOf(kind) {
  return kind?.startsWith('sequence') ? 'sequences' : kind?.startsWith('signal') ? 'signals' : 'image_classification';
}

/**
 * @param {string} kind of a data set or of a job
 * @returns {string} "picture", "window" or "sequence"; with an s for several of them
 */
export function sampleWord(kind) {
  return WORDS[dataOf(kind)];
}

/** @returns {boolean} whether the service can say why a network saw what it did: in pictures and windows */
export function isExplained(kind) {
  return dataOf(kind) !== 'sequences';
}

const MADE_FOR = {image: 'image_classification', signal: 'signals', sequence: 'sequences'};

/**
 * What a network of the catalogue is made for.
 * @param {{takes: string}} template
 * @returns {string} a kind of data sets
 */
export function dataOfNetwork({takes}) {
  return MADE_FOR[takes];
}

/** @returns {string[]} the kinds of data sets that a network can be bound to, the likeliest first */
export function dataFor(template) {
  const own = dataOfNetwork(template);
  return own === 'sequences' ? [own] : [own, own === 'signals' ? 'image_classification' : 'signals'];
}

/**
 * What a network is given one by one: what the data is of, or a window that is cut out of a sequence.
 * @param {string} kind of a job
 * @param {Object} resolved spec of the job or of one of its trials
 * @returns {string} as sampleWord does; "sample" where trials differ in it
 */
export function trainedWord(kind, {data, search} = {}) {
  const isSwept = ['data', 'data.window'].some((path) => path in (search?.parameters ?? {}));
  return dataOf(kind) !== 'sequences' ? sampleWord(kind) : isSwept ? 'sample' : data?.window ? 'window' : 'sequence';
}

/**
 * @param {string} metric of curves, as the API calls it
 * @param {string} word what the network is given one by one
 * @returns {string} its name as people read it
 */
export function curveName(metric, word) {
  return metric === 'images_per_second' ? `${capital(word)}s per second` : metricName(metric);
}
