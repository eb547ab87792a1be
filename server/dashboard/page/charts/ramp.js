import {h} from '../dom.js';

/** Shares of the highest value that a legend has colours of: enough for the bend of a square root. */
export const SHARES = Array.from({length: 17}, (_, i) => i / 16);

/**
 * A legend of colours.
 * @param {string} words what they tell
 * @param {string} low what the first colour stands for
 * @param {string} high what the last one stands for
 * @param {string[]} colours as CSS writes them, as far from each other as what they stand for
 * @returns {HTMLElement}
 */
export function ramp(words, low, high, colours) {
  return h('p', {class: 'ramp small muted', 'data-test': 'ramp'}, h('span', {}, words),
    h('span', {class: 'ramp-scale'}, h('span', {}, low), h('span', {class: 'ramp-bar', style: {'background-image': `linear-gradient(to right, ${colours.join(', ')})`}}), h('span', {}, high)));
}
