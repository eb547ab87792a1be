/** What data is of, and what one sample of it is called: a window of a signal is no picture. */

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
