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

/** @returns {boolean} whether the service can say why a network saw what it did: so far, in pictures */
export function isExplained(kind) {
  return dataOf(kind) === 'image_classification';
}

/**
 * What a network of the catalogue is made for. To the service a window is an image of one row, so nothing but the names
 * tells the networks of signals, which end in "_1d".
 * @param {{name: string, input: string}} template
 * @returns {string} a kind of data sets
 */
export function dataOfNetwork({name, input}) {
  return input === 'sequence_input' ? 'sequences' : name.endsWith('_1d') ? 'signals' : 'image_classification';
}

/** @returns {string[]} the kinds of data sets that a network can be bound to, the likeliest first */
export function dataFor(template) {
  const own = dataOfNetwork(template);
  return own === 'sequences' ? [own] : [own, own === 'signals' ? 'image_classification' : 'signals'];
}
