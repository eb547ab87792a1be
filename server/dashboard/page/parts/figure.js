import {h} from '../dom.js';

/**
 * A figure of a head: large number, small word.
 * @param {string} label
 * @param {string} text
 * @param {string} name for tests
 */
export function figure(label, text, name) {
  return h('div', {class: 'figure', 'data-test': name}, h('b', {}, text), h('span', {class: 'small muted'}, label));
}
